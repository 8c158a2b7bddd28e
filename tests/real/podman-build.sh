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

# `build_with POLICY FOLDER`: the same job under another `gpu:`.
build_with() {
  sed "s/^gpu: .*/gpu: $1/" "$triton_matrix" >"$work/gpu-$1.yaml"
  rock build "$triton_wheel_name" --matrix "$work/gpu-$1.yaml" --engine podman --image "$image" --out "$2"
}
same_as_local() {
  member_digests "$1/$triton_wheel_name" | diff "$work/local.digests" - || fail "the container's wheel differs from the local one"
}

if [ -e /dev/kfd ]; then
  step "this machine has a GPU: the runs without one are left out"
else
  step "gpu: none, without device nodes"
  build_with none "$work/none"
  same_as_local "$work/none"

  step "gpu: required, without device nodes: refused, with the reason"
  expect_equal "the exit code" 3 "$(code_of build_with required "$work/refused")"
  grep -q '/dev/kfd' "$work/out" || fail "the refusal does not name /dev/kfd"
  make_scratch_nodes
fi

step "gpu: required, with device nodes"
build_with required "$work/required"
same_as_local "$work/required"
