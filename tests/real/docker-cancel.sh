#!/usr/bin/env bash
# Ctrl-C in the middle of a container build, and a build that is killed outright: the container goes, and the build goes
# on where it was.
set -euo pipefail
# shellcheck source=tests/real/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/real/engine.bash
source "$(dirname "${BASH_SOURCE[0]}")/engine.bash"
needs docker.io runc mmdebstrap "${torch_packages[@]}"
enter_own_dev
start_engine
import_image

sed "s/^gpu: .*/gpu: none/" "$triton_matrix" >"$work/gpu-none.yaml"
# Job folders of its own: a job is built once at a time in each.
cd "$work"
build=("$ROCK_MATRIX_BIN" build "$triton_wheel_name" --matrix "$work/gpu-none.yaml" --engine docker --image "$image"
  --docker-arg=--network=host --out "$work/dist")

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
rock wheel verify "$work/dist/$triton_wheel_name"

step "SIGKILL leaves the container, and the next build removes it and goes on"
begun "$work/killed.log" --continue build
kill -s KILL "$pid"
wait "$pid" || true
expect_match "the container" '^rock-flash-attn-' "$(containers)"
"${build[@]}" --continue auto
expect_equal "the containers left" '' "$(containers)"
