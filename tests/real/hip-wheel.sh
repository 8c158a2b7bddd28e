#!/usr/bin/env bash
# A platform wheel with device code for three gfx targets, by hipcc, without a GPU.
set -euo pipefail
# shellcheck source=tests/real/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
needs "${torch_packages[@]}" "${hip_packages[@]}"

step "build $hip_wheel_name"
rock build "$hip_wheel_name" --matrix "$hip_matrix" --engine local --out "$work/dist"
wheel=$work/dist/$hip_wheel_name
[ -f "$wheel" ] || fail "no $hip_wheel_name among: $(ls -R "$work/dist")"

step "verify it"
rock wheel verify "$wheel"

step "the device code is for the targets of the matrix file"
"$host_python" -m zipfile -e "$wheel" "$work/unpacked"
module=$(find "$work/unpacked" -name '*.so')
for target_id in gfx906 gfx90a gfx1030; do
  grep -qaF "amdgcn-amd-amdhsa--$target_id" "$module" || fail "no code object for $target_id in $module"
done

step "it imports, and says that there is no device"
"$host_python" -m venv "$work/venv"
"$work/venv/bin/pip" install -q --no-deps --no-index "$wheel"
answer=$("$work/venv/bin/python" - <<'PY'
import rmx_vecadd

try:
    print("devices", rmx_vecadd.device_count())
except RuntimeError as error:
    print("RuntimeError", error)
PY
)
# With a GPU the count is the answer; without, HIP says so itself.
if [ -e /dev/kfd ]; then
  expect_match "device_count()" '^(devices [1-9]|RuntimeError hipError)' "$answer"
else
  expect_match "device_count()" '^RuntimeError hipErrorNoDevice' "$answer"
fi
