#!/usr/bin/env bash
# action/bootstrap.sh as a runner calls it: with a real curl and wget, a release host on loopback that speaks HTTPS, and
# every input and machine that it must refuse. The cases are in action_cases.py.
set -euo pipefail
# shellcheck source=tests/real/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
needs python3 bash curl wget openssl coreutils perl util-linux
"$host_python" -u tests/real/action_cases.py "$ROCK_MATRIX_BIN"
