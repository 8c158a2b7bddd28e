# A virtual environment with this Python, by uv. Arguments: Python version, folder.
set -euo pipefail
if command -v uv >/dev/null 2>&1; then
  uv=(uv)
else
  for python in python3 /opt/python/cp31*/bin/python; do
    # An old pip does not know --break-system-packages, but every pip passes over variables that it does not know.
    if PIP_BREAK_SYSTEM_PACKAGES=1 "$python" -m pip install --quiet uv 2>/dev/null; then
      uv=("$python" -m uv)
      break
    fi
  done
fi
[ -n "${uv:-}" ] || { echo "there is no uv, and no Python with pip to install it" >&2; exit 1; }
exec "${uv[@]}" venv --seed --python "$1" "$2"
