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

# `build_with POLICY FOLDER`: the same job under another `gpu:`.
build_with() {
  sed "s/^gpu: .*/gpu: $1/" "$triton_matrix" >"$work/gpu-$1.yaml"
  grep -q "^gpu: $1\$" "$work/gpu-$1.yaml" || fail "$triton_matrix has no gpu line"
  rock build "$triton_wheel_name" --matrix "$work/gpu-$1.yaml" --engine docker --image "$image" \
    --docker-arg=--network=host --out "$2"
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
  [ -z "$(find "$work/refused" -name '*.whl' 2>/dev/null)" ] || fail "a refused build left a wheel"
  make_scratch_nodes
fi

step "gpu: required, with device nodes"
build_with required "$work/required"
same_as_local "$work/required"

step "the command that render prints runs as it stands"
paste=$work/paste
rm -rf "$paste"
mkdir -p "$paste"
cp "$work/gpu-required.yaml" "$paste/matrix.yaml"
(
  cd "$paste"
  id=flash-attn-2.8.3-rocm6.2-torch2.5.1-triton
  rock render script matrix.yaml "$id" --engine docker --out ".rock/$id/build.sh"
  rock render docker matrix.yaml "$id" --image "$image" --docker-arg=--network=host --out command.sh
  bash command.sh
  mkdir wheels
  cp ".rock/$id/dist/triton/$triton_wheel_name" wheels/
)
same_as_local "$paste/wheels"
