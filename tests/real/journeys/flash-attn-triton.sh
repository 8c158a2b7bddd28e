#!/usr/bin/env bash
# A maintainer wants flash-attn with Triton's kernels: plan, build, publish to a folder, and install with the line that is
# printed, into an environment with the torch of the label.
set -euo pipefail
# shellcheck source=tests/real/journeys/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
begin_journey "${torch_packages[@]}"
one_at_a_time pypi-torch torch_environment "$work/torch.log" || skip "there is no torch $torch_of_label: $(tail -n 1 "$work/torch.log")"
# The recipe records it where it is there.
replaces 'hipcc HIP version: [^,]*, ' ''

remarks "One wheel for ROCm 6.2 and torch 2.5, built with the torch that this machine has."
types 'cat >flash-attn.yaml <<END
version: 1
distribution: flash-attn
recipe: flash-attn
axes:
  flash-attn: ["2.7.4.post1", "2.8.3"]
  python: ["3.11"]
  torch: ["2.5.1"]
  rocm: ["6.2"]
  backend: [triton]
torch-from: host
python-from: host
gpu: none
vars: {python: /usr/bin/python3}
END'
types "rock-matrix check flash-attn.yaml"
types "rock-matrix plan flash-attn.yaml --explain"
remarks "2.8.3 would not import with torch 2.5.1. The other one is built."
types "rock-matrix build --all --matrix flash-attn.yaml --engine local"
types "ls dist"
types "rock-matrix publish --to release dist/*.whl"

remarks "Installing it, in an environment with torch $torch_of_label of PyPI."
fresh_torch_environment "$folder/venv"
export PATH=$folder/venv/bin:$PATH
types "rock-matrix pick --published release --only-given --rocm 6.2 --torch $torch_of_label+rocm6.2 --python 3.11"
line=$(grep -m 1 -o 'pip install .*' <<<"$printed")
setting=$(grep -m 1 -o 'export .*' <<<"$printed")
types "$line -q"
types_failing 1 "set -o pipefail; python -c 'import flash_attn' 2>&1 | tail -n 1"
types "$setting; python -W ignore -c 'import flash_attn; print(flash_attn.__version__)'"

remarks "The page of the release has the same lines, by name."
types "grep -o 'pip install .*==.*' release/simple/index.html | sed 's/<[^>]*>//g'"
end_journey
