#!/usr/bin/env bash
# The same command with podman in place of docker: a real container builds the Triton wheel, without and with device
# nodes, and what comes out is what the local build makes.
set -euo pipefail
# shellcheck source=tests/real/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/real/engine.bash
source "$(dirname "${BASH_SOURCE[0]}")/engine.bash"
needs podman runc mmdebstrap "${torch_packages[@]}"
enter_own_dev
start_podman
import_image

built "$triton_matrix" "$triton_wheel_name"
member_digests "$wheel" >"$work/local.digests"

build_under_each_policy
