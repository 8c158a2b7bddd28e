#!/usr/bin/env bash
# A member of 5 GiB, compressed and read back: without optimization too slow for every run of the tests.
set -euo pipefail
# shellcheck source=tests/real/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck disable=SC2119
needs

step "a content of 5 GiB is compressed in blocks, found by another reader, and verified"
cargo test --locked --quiet --lib -- --ignored 5_gib
