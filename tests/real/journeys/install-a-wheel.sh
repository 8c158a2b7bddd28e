#!/usr/bin/env bash
# Someone who wants to use a wheel: which GPU is here, which line installs the wheel for it, and does it import? The GPU is
# a saved machine with an RX 7900 XTX, and the torch is PyPI's, which says itself that it has no ROCm.
set -euo pipefail
# shellcheck source=tests/real/journeys/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
begin_journey "${torch_packages[@]}"
one_at_a_time pypi-torch torch_environment "$work/torch.log" || skip "there is no torch $torch_of_label: $(tail -n 1 "$work/torch.log")"
cd "$repo"
built "$triton_matrix" "$triton_wheel_name"
rock publish --to "$folder/release" "$wheel" >/dev/null
mkdir -p "$folder/machine"
cp -r "$repo/tests/fixtures/kfd/rx7900xtx/sys" "$folder/machine/sys"
cd "$folder"

remarks "Which GPU do I have?"
types "rock-matrix doctor --sysfs-root machine 2>/dev/null | sed -n '/^GPUs/,/^$/p'"
without_torch types "rock-matrix doctor --sysfs-root machine --format json >doctor.json 2>/dev/null"

remarks "Which wheel is for it, in an environment without torch?"
without_torch types "rock-matrix pick --published release --environment doctor.json --rocm 6.2 --python 3.11"

remarks "And with torch for ROCm 6.2 installed?"
types "rock-matrix pick --published release --environment doctor.json --python 3.11 --torch $torch_of_label+rocm6.2"
line=$(grep -m 1 -o 'pip install .*' <<<"$printed")
setting=$(grep -m 1 -o 'export .*' <<<"$printed")

remarks "I type what it says."
fresh_torch_environment "$folder/venv"
export PATH=$folder/venv/bin:$PATH
types "$line -q"
types "$setting; python -W ignore -c 'import flash_attn, torch; print(flash_attn.__version__, torch.__version__)'"
end_journey
