#!/usr/bin/env bash
# Members of 5 GiB: written and read back, and gone through by every command that reads wheels. Without optimization
# that is too slow for every run of the tests.
set -euo pipefail
# shellcheck source=tests/real/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
needs gcc

step "a content of 5 GiB is compressed in blocks, found by another reader, and verified"
cargo test --locked --quiet --lib -- --ignored 5_gib

step "a wheel with two members of 5 GiB goes through every command within 700 MiB of memory"
printf 'extern void *malloc(unsigned long); void *PyInit__last(void) { return malloc(1); }\n' >"$work/library.c"
gcc -shared -fPIC -O1 -o "$work/library.so" "$work/library.c"
"$host_python" tests/real/large_members.py --rock "$ROCK_MATRIX_BIN" --library "$work/library.so" --work "$work"

step "packages of the SDK with a member of 5 GiB, a library of more than 4 GiB and 70,000 members take less than 1 GiB of memory"
gcc -shared -fPIC -O1 -Wl,-soname,liblarge.so.1 -Wl,-rpath,"\$ORIGIN/llvm/lib" -o "$work/liblarge.so.1" "$work/library.c"
mkdir "$work/sdk"
"$host_python" tests/real/sdk_large.py --rock "$ROCK_MATRIX_BIN" --library "$work/liblarge.so.1" --work "$work/sdk"
rm -rf "$work/sdk"
