#!/usr/bin/env bash
# P8: uv installs by name from the index of a local release; each folder yields the wheel of its own ROCm and torch.
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
  expect_equal "the version from $folder" "2.8.3+${labels_by_folder[$folder]}" "$found"
done
