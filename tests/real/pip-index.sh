#!/usr/bin/env bash
# P8: pip installs by name from the index of a local release; each folder yields the wheel of its own ROCm and torch.
set -euo pipefail
# shellcheck source=tests/real/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
needs "${torch_packages[@]}"

published_release
serve "$work/release"
for folder in "${!labels_by_folder[@]}"; do
  step "pip installs flash-attn from $folder"
  "$host_python" -m venv "$work/$folder"
  pip=$work/$folder/bin/pip
  "$pip" install -q --isolated --no-deps --no-cache-dir --index-url "$served/simple/$folder/" flash-attn
  found=$("$pip" show flash-attn | sed -n 's/^Version: //p')
  expect_equal "the version from $folder" "2.8.3+${labels_by_folder[$folder]}" "$found"
done

step "pip checks the hash that the index gives"
broken=$work/broken
cp -r "$work/release" "$broken"
find "$broken" -name "$triton_wheel_name" -exec sh -c 'printf x >>"$1"' _ {} \;
serve "$broken"
if "$pip" download -q --isolated --no-deps --no-cache-dir --index-url "$served/simple/rocm6.2-torch2.5/" -d "$work" flash-attn \
  >"$work/out" 2>&1; then
  fail "pip took a wheel whose bytes are not those of the index"
fi
grep -q 'DO NOT MATCH THE HASHES' "$work/out" || fail "pip refused for another reason: $(cat "$work/out")"
