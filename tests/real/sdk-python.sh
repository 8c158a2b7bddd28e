#!/usr/bin/env bash
# The Python of the SDK's packages, on every Python that is here: pip and uv install small real packages of it, which are
# asked, killed, unpacked by several at once, and uninstalled. No ROCm or GPU is needed.
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
  python=${pythons[$minor]} what=tests which=()
  if [ "$python" = "$tools/bin/python" ]; then
    what="tests, types and style"
  else
    "$tools/bin/uv" venv -q --no-config --python "$python" "$work/$minor"
    python=$work/$minor/bin/python
    # The pip that a Python comes with may need twice the time to start.
    "$tools/bin/uv" pip install -q --no-config --compile-bytecode --cache-dir "$cache/uv" --python "$python" pip pytest pytest-xdist pyyaml uv ||
      fail "no pytest for $("$python" --version)"
  fi
  # What differs between Pythons shows itself at the ends: those between are spared the tests that take long.
  if [ "$minor" != "${minors[0]}" ] && [ "$minor" != "${minors[-1]}" ]; then which=(-m "not slow") what="$what, without the slow ones"; fi
  step "$("$python" --version): $what"
  "$python" -B -m pytest -q -n auto --maxprocesses 8 -p no:cacheprovider --basetemp "$temporary/tests" "${which[@]}" tests/python/sdk ||
    fail "the tests under $("$python" --version)"
  rm -rf "$temporary/tests"
done
