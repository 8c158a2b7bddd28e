#!/usr/bin/env bash
# The rendered docker command builds the Triton wheel in a real engine, without and with device nodes,
# and what comes out is what the local build makes. Ctrl-C in the middle of a build removes the container, a build that is
# killed leaves it to the next one, and both are resumed.
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

# The same job in a directory of its own, interrupted and killed.
cancelled=$work/cancelled
mkdir -p "$cancelled"
sed "s/^gpu: .*/gpu: none/" "$triton_matrix" >"$cancelled/gpu-none.yaml"
cd "$cancelled"
build=("$ROCK_MATRIX_BIN" build "$triton_wheel_name" --matrix gpu-none.yaml --engine docker --image "$image"
  --docker-arg=--network=host --out dist)

# `begun LOG ARGUMENT...`: starts the build in the background and waits until the stage `build` runs; sets `pid`.
begun() {
  local log=$1
  shift
  "${build[@]}" "$@" >"$log" 2>&1 &
  pid=$!
  for _ in $(seq 3000); do
    ! grep -qE '^\[[0-9]+/[0-9]+\] build$' "$log" || return 0
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.1
  done
  fail "the build never came to its stage: $(tail -n 5 "$log")"
}
containers() { docker ps --all --format '{{.Names}}'; }

# A shell that is not interactive starts background processes with SIGINT ignored; job control undoes that.
set -m
step "SIGINT while the container builds"
begun "$work/interrupted.log"
expect_match "the container" '^rock-flash-attn-' "$(containers)"
code=0
kill -s INT "$pid"
wait "$pid" || code=$?
expect_equal "the exit code" 130 "$code"
expect_equal "the containers left" '' "$(containers)"

step "the build goes on"
"${build[@]}" --continue auto
rock wheel verify "dist/$triton_wheel_name"

step "SIGKILL leaves the container, and the next build removes it and goes on"
begun "$work/killed.log" --continue build
kill -s KILL "$pid"
wait "$pid" || true
expect_match "the container" '^rock-flash-attn-' "$(containers)"
"${build[@]}" --continue auto
expect_equal "the containers left" '' "$(containers)"
