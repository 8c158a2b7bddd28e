#!/usr/bin/env bash
# The Python of the SDK's packages: small real packages of it are installed, asked, and uninstalled on every Python that is
# here, killed and unpacked by several at once on the oldest and the newest, and given to uv and to pip's builds on one.
# No ROCm or GPU is needed.
set -euo pipefail
# shellcheck source=tests/real/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
needs python3-venv gcc libc6-dev
needs_pypi mypy pytest pytest-xdist pyyaml ruff uv

export ROCK_WHEELHOUSE=$work/wheelhouse
"$tools/bin/pip" download -q --disable-pip-version-check --no-deps -d "$ROCK_WHEELHOUSE" 'setuptools>=70.2,<81' ||
  skip "setuptools could not be had from PyPI"

# The interpreters by version: Debian's, and each other one in PATH or from pyenv.
declare -A pythons=(["$("$tools/bin/python" -c 'import sys; print(sys.version_info[1])')"]=$tools/bin/python)
for minor in 10 11 12 13; do
  for base in "python3.$minor" "${PYENV_ROOT:-${HOME:-/root}/.pyenv}/versions/3.$minor".*/bin/python; do
    # A shim may stand for an interpreter that is not there.
    if [ -z "${pythons[$minor]:-}" ] && "$base" -c '' 2>/dev/null; then pythons[$minor]=$base; fi
  done
done
# In memory where 4 GiB are free, because the tests install and delete thousands of small files.
temporary=$work
if [ "$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 { print $4 }')" -ge 4194304 ] 2>/dev/null; then
  temporary=$(mktemp -d /dev/shm/rock-matrix-sdk-XXXXXX)
  at_exit "rm -rf '$temporary'"
fi
mapfile -t minors < <(printf '%s\n' "${!pythons[@]}" | sort -n)

for minor in "${minors[@]}"; do
  python=${pythons[$minor]} what=tests
  # Differences between Pythons appear in the oldest and the newest, so those between skip the long tests.
  case $minor in
    "${minors[0]}" | "${minors[-1]}") which='' ;;
    *) which='not slow' what='tests that are not slow' ;;
  esac
  if [ "$python" = "$tools/bin/python" ]; then
    # Installers and the program are shown by this one alone.
    what="$what, installers, types and style" which=${which:+once or $which}
  else
    "$tools/bin/uv" venv -q --no-config --python "$python" "$work/$minor"
    python=$work/$minor/bin/python
    which="not once${which:+ and $which}"
    # The pip that a Python comes with may need twice the time to start.
    "$tools/bin/uv" pip install -q --no-config --cache-dir "$cache/uv" --python "$python" pip pytest pytest-xdist pyyaml uv ||
      fail "no pytest for $("$python" --version)"
    # Compiles the modules that pytest needs, as a run with -B would do for itself in each of its processes.
    (cd "$work" && "$python" -m pytest --version >/dev/null) || fail "no pytest for $("$python" --version)"
  fi
  step "$("$python" --version): $what"
  "$python" -B -m pytest -q -n auto --maxprocesses 8 -p no:cacheprovider --basetemp "$temporary/tests" -m "$which" tests/python/sdk ||
    fail "the tests under $("$python" --version)"
  rm -rf "$temporary/tests"
done
