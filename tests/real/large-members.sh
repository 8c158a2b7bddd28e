#!/usr/bin/env bash
# Members of more than 4 GiB, which need ZIP64: written and read back, and gone through by every command that reads wheels.
# Hashing them takes too long for every run of the tests.
set -euo pipefail
# shellcheck source=tests/real/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
needs gcc

step "a content of more than 4 GiB is compressed in blocks, found by another reader, and verified"
cargo test --locked --quiet --lib -- --ignored of_more_than_4_gib

step "wheels with members of more than 4 GiB go through every command within 700 MiB of memory"
printf 'extern void *malloc(unsigned long); void *PyInit__last(void) { return malloc(1); }\n' >"$work/library.c"
gcc -shared -fPIC -O1 -o "$work/library.so" "$work/library.c"
"$host_python" tests/real/large_members.py --rock "$ROCK_MATRIX_BIN" --library "$work/library.so" \
  --work "$work" --kept "$cache/large-members"

step "packages of the SDK with a file and a library of more than 4 GiB and 70,000 members take less than 1 GiB of memory"
gcc -shared -fPIC -O1 -Wl,-soname,liblarge.so.1 -Wl,-rpath,"\$ORIGIN/llvm/lib" -o "$work/liblarge.so.1" "$work/library.c"
mkdir "$work/sdk"
"$host_python" tests/real/sdk_large.py --rock "$ROCK_MATRIX_BIN" --library "$work/liblarge.so.1" --work "$work/sdk"
rm -rf "$work/sdk"
