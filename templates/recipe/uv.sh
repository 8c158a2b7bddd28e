# A virtual environment with this Python, by uv. Arguments: Python version, folder.
set -euo pipefail
uv=()
find_uv() {
  if command -v uv >/dev/null 2>&1; then
    uv=(uv)
    return
  fi
  local python
  for python in python3 python3.12 python3.11 /opt/python/cp31*/bin/python; do
    # Old releases of pip do not know --break-system-packages; a variable that they do not know does no harm.
    if PIP_BREAK_SYSTEM_PACKAGES=1 "$python" -m pip install --quiet uv >/dev/null 2>&1; then
      uv=("$python" -m uv)
      return
    fi
  done
}
find_uv
if [ "${#uv[@]}" -eq 0 ] && [ "$(id -u)" -eq 0 ]; then
  if command -v apt-get >/dev/null 2>&1; then
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3-pip
  elif command -v dnf >/dev/null 2>&1; then
    dnf install -y -q python3.11-pip
  fi
  find_uv
fi
[ "${#uv[@]}" -gt 0 ] || { echo "there is no uv, and no Python with pip to install it" >&2; exit 1; }
exec "${uv[@]}" venv --seed --python "$1" "$2"
