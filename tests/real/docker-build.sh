#!/usr/bin/env bash
# The rendered docker command builds the Triton wheel in a real engine, without and with device nodes,
# and what comes out is what the local build makes.
set -euo pipefail
# shellcheck source=tests/real/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/real/engine.bash
source "$(dirname "${BASH_SOURCE[0]}")/engine.bash"
needs docker.io runc mmdebstrap "${torch_packages[@]}"
enter_own_dev
start_engine
import_image

built "$triton_matrix" "$triton_wheel_name"
member_digests "$wheel" >"$work/local.digests"

build_under_each_policy

step "the command that render prints runs as it stands"
paste=$work/paste
rm -rf "$paste"
mkdir -p "$paste"
cp "$work/gpu-required.yaml" "$paste/matrix.yaml"
(
  cd "$paste"
  id=flash-attn-2.7.4.post1-rocm6.2-torch2.5.1-triton
  rock render script matrix.yaml "$id" --engine docker --out ".rock/$id/build.sh"
  rock render docker matrix.yaml "$id" --image "$image" --docker-arg=--network=host --out command.sh
  bash command.sh
  mkdir wheels
  cp ".rock/$id/dist/triton/$triton_wheel_name" wheels/
)
same_as_local "$paste/wheels"
