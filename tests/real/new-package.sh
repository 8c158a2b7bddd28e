#!/usr/bin/env bash
# A package of PyPI that the program knows nothing of, built by the two YAML files of docs/add-a-distribution.md.
set -euo pipefail
# shellcheck source=tests/real/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
needs "${torch_packages[@]}" "${hip_packages[@]}"

step "nothing but YAML names it"
if grep -rqi 'xerv' src templates matrices; then fail "the program names the package"; fi

step "build it"
cp examples/new-package/*.yaml "$work/"
cd "$work"
rock build --all --matrix xerv-crayon.yaml --matrix matrix.yaml
wheel=$(built_wheel dist xerv_crayon-5.7.16+rocm52-cp311-cp311-linux_x86_64.whl)
[ -f "$wheel" ] || fail "no $wheel among: $(ls -R dist)"

step "its device code is for the targets of the matrix file, and each gate is passed"
said=$(rock wheel gfx "$wheel")
expect_match "wheel gfx" 'targets +gfx90a gfx1030' "$said"
said=$(rock wheel check --no-host-libs "$wheel" --expect gfx90a,gfx1030 2>&1)
expect_match "wheel check" 'ROCm 5 by libamdhip64' "$said"
if [[ $said == *R125* ]]; then fail "modules for another Python are in the wheel: $said"; fi

step "a second build changes nothing"
said=$(rock build --all --matrix xerv-crayon.yaml --matrix matrix.yaml --continue auto 2>&1)
if [[ $said == *"kernels: done"* ]]; then fail "the kernels were compiled again: $said"; fi

step "pip installs it, its kernels load and say that there is no device"
fresh_environment --system-site-packages "$work/venv"
"$work/venv/bin/pip" install -q --no-deps --no-index "$wheel"
answer=$("$work/venv/bin/python" -c 'from crayon.c_ext import crayon_rocm; print(crayon_rocm.get_hardware_info())')
[ -e /dev/kfd ] || expect_match "get_hardware_info()" 'Device Not Found' "$answer"
