#!/usr/bin/env bash
# The Python of the SDK's packages, on every Python that is here: pip and uv install small real packages of it, which are
# asked, killed, unpacked by several at once, and uninstalled. No ROCm or GPU is needed.
set -euo pipefail
# shellcheck source=tests/real/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
needs python3-venv gcc libc6-dev
needs_pypi mypy pytest pyyaml ruff uv

export ROCK_WHEELHOUSE=$work/wheelhouse
"$tools/bin/pip" download -q --disable-pip-version-check --no-deps -d "$ROCK_WHEELHOUSE" 'setuptools>=70.2,<81' ||
  skip "setuptools could not be had from PyPI"

# `tested PYTHON`: all tests under that interpreter.
tested() {
  "$1" -B -m pytest -q -p no:cacheprovider --basetemp "$work/tests" tests/python/sdk || fail "the tests under $1"
  rm -rf "$work/tests"
}

# Debian's Python, and each other one in PATH or from pyenv.
step "$("$tools/bin/python" --version), the types and the style"
tested "$tools/bin/python"
for version in 3.10 3.12 3.13; do
  for base in "python$version" "${PYENV_ROOT:-${HOME:-/root}/.pyenv}/versions/$version".*/bin/python; do
    # A shim may stand for an interpreter that is not there.
    "$base" -c '' 2>/dev/null || continue
    step "$("$base" --version)"
    "$base" -m venv "$work/$version"
    "$work/$version/bin/pip" install -q --disable-pip-version-check pytest pyyaml uv || fail "no pytest for Python $version"
    tested "$work/$version/bin/python"
    break
  done
done
