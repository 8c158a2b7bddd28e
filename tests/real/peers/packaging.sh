#!/usr/bin/env bash
# Versions, specifiers, wheel tags and METADATA are judged as the tests of PyPA's packaging judge them: its source
# distribution from PyPI has these tests, whose vectors are put to the program.
set -euo pipefail
# shellcheck source=tests/real/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
needs python3-venv
needs_pypi pytest pretend hypothesis

step "fetch the tests of packaging from PyPI"
# Pinned: a later release may change its mind, as 26.4 did about `===` without a version.
version=26.4
"$tools/bin/pip" download -q --disable-pip-version-check --no-deps --no-binary :all: -d "$work" "packaging==$version" >"$work/fetch.log" 2>&1 ||
  skip "packaging $version could not be fetched from PyPI: $(tail -n 1 "$work/fetch.log")"
tar -xzf "$work/packaging-$version.tar.gz" -C "$work"

step "compare with packaging $version"
export PYTHONPATH=$work/packaging-$version/src
"$tools/bin/python" tests/real/peers/packaging_vectors.py --rock "$ROCK_MATRIX_BIN" --tests "$work/packaging-$version" --work "$work"
