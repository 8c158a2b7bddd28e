#!/usr/bin/env bash
# P8: uv installs by name from the index of a release, in a folder and on GitHub; each folder of the index yields the
# wheel of its own ROCm and torch.
set -euo pipefail
# shellcheck source=tests/real/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
needs "${torch_packages[@]}"
needs_pypi uv

published_release
serve "$work/release"
for folder in "${!labels_by_folder[@]}"; do
  step "uv installs flash-attn from $folder"
  "$tools/bin/uv" venv -q --no-config --python "$host_python" "$work/$folder"
  "$tools/bin/uv" pip install -q --no-config --no-cache --python "$work/$folder/bin/python" --no-deps \
    --default-index "$served/simple/$folder/" flash-attn
  found=$("$tools/bin/uv" pip show --no-config --python "$work/$folder/bin/python" flash-attn 2>/dev/null | sed -n 's/^Version: //p')
  expect_equal "the version from $folder" "2.7.4.post1+${labels_by_folder[$folder]}" "$found"
done

uv() { "$tools/bin/uv" --no-config --no-cache -q "$@"; }
# `from_index INDEX TARGET`
from_index() { uv pip install --python "$host_python" --no-deps --default-index "$1" --target "$2" flash-attn; }
listed_site
install_from_each uv "a list" "$site"
live_site
install_from_each uv GitHub "$live"

step "uv resolves from METADATA and leaves the wheel"
serve "$work/release"
resolving=$served/simple/rocm6.2-torch2.5/
echo flash-attn >"$work/in.txt"
compile() { uv pip compile --python "$host_python" --default-index "$resolving" "$@" "$work/in.txt"; }
# What the wheel needs is not in this index: uv has to read METADATA to find out.
if compile >"$work/out" 2>&1; then fail "an index without torch gave a wheel that needs torch: $(cat "$work/out")"; fi
expect_match "what uv resolved" "flash-attn==2[.]7[.]4[.]post1[+]${labels_by_folder[rocm6.2-torch2.5]}" "$(compile --no-deps)"
grep -q 'GET /flash_attn[^ ]*[.]whl[.]metadata' "$work/server.log" || fail "uv did not read METADATA: $(cat "$work/server.log")"
! grep -q '/flash_attn[^ ]*[.]whl ' "$work/server.log" || fail "uv fetched the wheel: $(cat "$work/server.log")"

step "uv takes nothing whose requires-python excludes this Python"
page=$work/release/simple/rocm6.2-torch2.5/flash-attn/index.html
cp "$page" "$work/page"
sed -i 's/data-requires-python="[^"]*"//; s/<a /<a data-requires-python="\&gt;=4" /' "$page"
if compile --no-deps >"$work/out" 2>&1; then fail "uv took a wheel for another Python: $(cat "$work/out")"; fi
cp "$work/page" "$page"

step "uv ignores a yanked wheel unless its version is pinned"
rock index yank "$work/release" 'flash-attn==2.7.4.post1: a test' --apply
if compile --no-deps >"$work/out" 2>&1; then fail "uv took a yanked wheel: $(cat "$work/out")"; fi
echo "flash-attn==2.7.4.post1+${labels_by_folder[rocm6.2-torch2.5]}" >"$work/in.txt"
compile --no-deps >/dev/null
