#!/usr/bin/env bash
# An author of a HIP extension with a plain setup.py: a matrix file, a build, a mistake in a kernel, the fix, the wheel in
# a folder that pip installs from, an import, and everything removed again.
#
# Not shown: a GPU. Debian's ROCm is 5.2.
set -euo pipefail
# shellcheck source=tests/real/journeys/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/real/journeys/extension.bash
source "$(dirname "${BASH_SOURCE[0]}")/extension.bash"
begin_journey python3 python3-venv python3-dev "${hip_packages[@]}"
write_extension . vecadd 0.3.0
printf '/.rock/\n/dist/\n/release/\n/venv/\n' >.gitignore
git init -q .
replaces 'Python 3\.11\.[0-9]+' 'Python 3.11'
replaces '[0-9]+ bytes' 'N bytes'
replaces '[0-9.]+ (kB|KiB)' 'N kB'

remarks "The person has a repository with an extension, and Debian's ROCm and Python."
types "ls"
types "rock-matrix init"
remarks "This machine has Python 3.11 and ROCm 5.2, and the extension is for two other GPUs."
types 'sed -i "s/3.12/3.11/; s/rocm: .*/rocm: [\"5.2\"]/; s/^gfx: .*/gfx: [mi210, gfx1030]/" matrices/vecadd.yaml'
types 'printf "torch-from: host\npython-from: host\n" >>matrices/vecadd.yaml'
types "rock-matrix check"
types "rock-matrix plan"
types "rock-matrix build --all"
types "ls dist"

remarks "A mistake in a kernel, and the version after it."
types 'sed -i "s/sum\[i\] = left\[i\]/sum[i] = lfet[i]/" csrc/kernels.hip'
types_failing 4 "rock-matrix build --all"
resume=$(sed -nE 's/^help: fix the cause, then run .(rock-matrix .*).$/\1/p' <<<"$printed")
remarks "The mistake is fixed, and the printed command resumes."
types 'sed -i "s/lfet/left/" csrc/kernels.hip'
expect_match "the command that resumes" "^rock-matrix build " "$resume"
types "$resume"

remarks "Is the wheel good, and for which GPUs?"
types "rock-matrix wheel check dist/*.whl"
types "rock-matrix wheel gfx dist/*.whl"
types "rock-matrix publish --to release dist/*.whl"
line=$(grep -m 1 -o 'pip install .*' <<<"$printed")

remarks "Someone installs it from that folder."
types "python3 -m venv venv"
types "venv/bin/$line -q"
types 'cd venv && bin/python -c "import vecadd; print(vecadd.device_count.__name__)"'
types "venv/bin/pip uninstall -q -y vecadd"
types_failing 1 'cd venv; bin/python -W ignore -c "import vecadd" 2>&1 | tail -n 1; bin/python -c "import vecadd" 2>/dev/null'
types "rock-matrix clean --all --whole"
types "git status --short"
end_journey
