#!/usr/bin/env bash
# Ctrl-C and SIGTERM in the middle of a real build: the right exit code, no process left, and the build can go on.
set -euo pipefail
# shellcheck source=tests/real/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
needs "${torch_packages[@]}" "${hip_packages[@]}"

# Processes that stand in the stage's folder or carry its mark, other than this shell and its own helpers.
left_over() {
  local process
  for process in /proc/[0-9]*; do
    if [[ $(readlink "$process/cwd" 2>/dev/null) == "$work"/run-* ]] ||
      grep -qzx "ROCK_STAGE_MARK=$1" "$process/environ" 2>/dev/null; then
      printf '%s: %s\n' "${process##*/}" "$(tr '\0' ' ' <"$process/cmdline" 2>/dev/null)"
    fi
  done
}

# The processes below a process, itself not among them.
descendants() {
  local child children=()
  # The list ends without a line break, so `read` says 1 although it has read.
  read -ra children 2>/dev/null <"/proc/$1/task/$1/children" || true
  for child in "${children[@]}"; do
    say "$child"
    descendants "$child"
  done
}

# `interrupt SIGNAL CODE`: sends the signal once the compiler is at work.
interrupt() {
  local signal=$1 expected=$2 mark="$1-$$" folder=$work/run-$1 pid code=0 compiling='' below
  step "SIG$signal while hipcc compiles"
  ROCK_STAGE_MARK=$mark "$ROCK_MATRIX_BIN" build "$hip_wheel_name" --matrix "$hip_matrix" --engine local --out "$folder" \
    >"$work/$signal.log" 2>&1 &
  pid=$!
  for _ in $(seq 600); do
    below=$(descendants "$pid")
    for process in $below; do
      case $(tr '\0' ' ' <"/proc/$process/cmdline" 2>/dev/null) in *-x\ hip*) compiling=yes ;; esac
    done
    [ -z "$compiling" ] || break
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.1
  done
  [ -n "$compiling" ] || fail "the build never came to the compiler: $(tail -n 5 "$work/$signal.log")"
  kill -s "$signal" "$pid"
  wait "$pid" || code=$?
  expect_equal "the exit code after SIG$signal" "$expected" "$code"
  below=$(left_over "$mark")
  [ -z "$below" ] || fail "processes are left after SIG$signal: $below"
  [ -z "$(find "$folder" -name '*.whl' 2>/dev/null)" ] || fail "an interrupted build left a wheel in $folder"

  step "the build goes on after SIG$signal"
  rock build "$hip_wheel_name" --matrix "$hip_matrix" --engine local --out "$folder" --continue auto
  rock wheel verify "$(built_wheel "$folder" "$hip_wheel_name")"
}

# A shell that is not interactive starts background processes with SIGINT ignored; job control undoes that.
set -m
one_at_a_time built interrupt INT 130
one_at_a_time built interrupt TERM 143
