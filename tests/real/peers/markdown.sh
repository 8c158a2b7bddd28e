#!/usr/bin/env bash
# No text of a listing, a plan, a result or an index is markup in a document: cmark-gfm, which is GitHub's renderer, and
# marked make the same elements of each document for hostile texts as for a plain word.
set -euo pipefail
# shellcheck source=tests/real/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
packages=(python3-venv)
command -v node >/dev/null || packages+=(nodejs)
command -v npm >/dev/null || packages+=(npm)
needs "${packages[@]}"
needs_pypi cmarkgfm

# The last major version with CommonJS, which the Node of Debian 12 (18) needs.
needs_npm marked@15.0.12

step "render documents of hostile texts with cmarkgfm $(installed_version cmarkgfm) and marked"
NODE_PATH=$npm_modules "$tools/bin/python" tests/real/peers/markdown.py --rock "$ROCK_MATRIX_BIN" --work "$work"
