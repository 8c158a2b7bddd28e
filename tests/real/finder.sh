#!/usr/bin/env bash
# The wheel finder in Chromium: choose, paste, copy, share, no wheel, dark, phone, keyboard alone, what a screen reader
# gets; and on hundreds of machines the same answer as `pick`. Screenshots go to the work folder, and to docs/ with
# ROCK_BLESS=1.
set -euo pipefail
# shellcheck source=tests/real/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
packages=(chromium fonts-dejavu-core)
# Another node than Debian's brings its npm along, and the two cannot be installed together.
command -v node >/dev/null || packages+=(nodejs)
command -v npm >/dev/null || packages+=(npm)
needs "${packages[@]}"
# The last one that runs on the Node of Debian 12, which is 18.
needs_npm playwright-core@1.61.0
needs_pypi html5lib

step "make a page of 3,000 wheels"
"$host_python" tests/real/finder_data.py "$work" 3000
published=(--published "$work/releases.json" --published "$work/rock-manifest.json")
mkdir -p "$work/shots" "$work/site"
rock report page "${published[@]}" --title "ROCm wheels" --out "$work/site/index.html"
rock index yank "${published[@]}" --out "$work/index" --quiet --apply 'flash-attn==2.8.3: broken' 'rmx-vecadd==2.8.2' 'rmx-vecadd==2.8.1'
# `pick` reads all of them for each machine that it is asked about. Each eighth wheel: all versions, pairs, Pythons and
# systems are among them.
"$host_python" tests/real/finder_data.py "$work/few" 400 8
few=(--published "$work/few/releases.json" --published "$work/few/rock-manifest.json")
rock index yank "${few[@]}" --out "$work/few/index" --quiet --apply 'flash-attn==2.8.3: broken' 'flash-attn==2.8.2' 'rmx-vecadd==2.8.2' 'rmx-vecadd==2.8.1'
rock report page "${few[@]}" --withdrawn-in "$work/few/index" --out "$work/site/withdrawn.html"
echo '[]' >"$work/none.json"
rock report page --published "$work/none.json" --quiet --out "$work/site/empty.html" || true
serve "$work/site"

step "html5lib finds no fault in the page"
"$tools/bin/python" -c 'import sys, html5lib; html5lib.HTMLParser(strict=True).parse(sys.stdin.buffer)' <"$work/site/index.html"

NODE_PATH=$npm_modules node tests/real/finder.js "$work" "$served" "$ROCK_MATRIX_BIN"
[ -z "${ROCK_BLESS:-}" ] || cp "$work"/shots/*.png docs/
