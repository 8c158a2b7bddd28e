#!/usr/bin/env bash
# Wheels with one thing wrong each: whatever pip or uv refuses to install, `wheel verify` refuses, too, and what all of
# them take is installed alike.
set -euo pipefail
# shellcheck source=tests/real/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
needs python3 python3-venv
needs_pypi uv

step "verify and install each wheel with pip and uv"
# Of fastzip, which is on PyPI, the corpus of malformed archives (malo) is not: the vectors are of our own.
mkdir -p "$work/served"
serve "$work/served"
# Answers of the installers for a wheel are kept between runs.
PYTHONPATH=tests/real "$tools/bin/python" tests/real/peers/wheel_peers.py "$ROCK_MATRIX_BIN" "$tools/bin/python" "$tools/bin/uv" "$work" \
  "$served" "$cache/wheel-peers"
