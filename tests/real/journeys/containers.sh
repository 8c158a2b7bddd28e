#!/usr/bin/env bash
# The author of a HIP extension builds it in a container: with docker, and with podman as Debian ships it.
#
# Not shown: a GPU, and a registry. The image is Debian 12 with its ROCm, imported into the engines under a name of its own.
set -euo pipefail
# shellcheck source=tests/real/journeys/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/real/engine.bash
source "$repo/tests/real/engine.bash"
# shellcheck source=tests/real/journeys/extension.bash
source "$repo/tests/real/journeys/extension.bash"
begin_journey docker.io podman runc mmdebstrap python3 python3-venv "${hip_packages[@]}"
# It starts this file again, from where the stage was started.
cd "$repo"
enter_own_dev
cd "$folder"
replaces 'Python 3\.11\.[0-9]+' 'Python 3.11'
replaces '[0-9]+ bytes' 'N bytes'
write_extension . vecadd 0.3.0

remarks "The repository has a matrix file. Which image would be used for the ROCm that it names?"
types "rock-matrix init -q"
types "rock-matrix plan --format json | python3 -c 'import json, sys; print(json.load(sys.stdin)[\"jobs\"][0][\"image\"])'"
remarks "The person has an image of their own, with Python 3.11 and ROCm 5.2."
types 'sed -i "s/3.12/3.11/; s/rocm: .*/rocm: [\"5.2\"]/; s/^gfx: .*/gfx: [gfx90a, gfx1030]/" matrices/vecadd.yaml'
types 'printf "torch-from: host\npython-from: host\nimage: debian-hip:5.2\n" >>matrices/vecadd.yaml'
types "rock-matrix plan"
start_engine
import_hip_image
types "rock-matrix build --all --engine docker --docker-arg=--network=host --out by-docker"

remarks "The same with podman, after a mistake."
start_podman
import_hip_image
types 'sed -i "s/sum\[i\] = left\[i\]/sum[i] = lfet[i]/" csrc/kernels.hip'
types_failing 4 "rock-matrix build --all --engine podman --docker-arg=--network=host --out by-podman"
resume=$(sed -nE 's/^help: fix the cause, then run .(rock-matrix .*).$/\1/p' <<<"$printed")
types 'sed -i "s/lfet/left/" csrc/kernels.hip'
expect_match "the command that resumes" "^rock-matrix build " "$resume"
types "$resume"
types "rock-matrix wheel check by-docker/*.whl by-podman/*.whl"
types "cmp by-docker/*.whl by-podman/*.whl && echo the same bytes"

remarks "Someone installs it."
types "python3 -m venv venv"
types "venv/bin/pip install -q --no-deps by-podman/*.whl"
types 'cd venv && bin/python -c "import vecadd; print(vecadd.device_count.__name__)"'
end_journey
