#!/usr/bin/env bash
# << wheel >>
# Job << id >>, made by << generator >>. Run it in the job's folder, on the host or in a container.
#   ROCK_FROM=STAGE  begins at that stage; those before it are taken as done.
set -euo pipefail
cd "${ROCK_FOLDER:-<< folder >>}"
mkdir -p done

# Runs one stage: a name, seconds (0: no limit), tries, and a command. Stages before ROCK_FROM are passed over.
stage() {
  local name=$1 seconds=$2 tries=$3 status=0
  shift 3
  if [ -n "${ROCK_FROM:-}" ] && [ "$ROCK_FROM" != "$name" ]; then
    echo "== $name: done before"
    return 0
  fi
  ROCK_FROM=
  rm -f "done/$name"
  while :; do
    echo "== $name"
    status=0
    if [ "$seconds" -gt 0 ]; then
      timeout --kill-after=30 "$seconds" "$@" </dev/null || status=$?
    else
      "$@" </dev/null || status=$?
    fi
    [ "$status" -ne 0 ] || break
    tries=$((tries - 1))
    if [ "$tries" -le 0 ]; then
      echo "== $name failed with $status" >&2
      exit "$status"
    fi
    echo "== $name failed with $status, trying again"
  done
}
finished() { : >"done/$1"; }
# Fails unless a glob matches this many files.
expects() {
  local found
  mapfile -t found < <(compgen -G "$1" || true)
  [ "${#found[@]}" -eq "$2" ] || { echo "== $2 expected for $1, ${#found[@]} there" >&2; exit 1; }
}
<% if uses_jobs %>
# Parallel jobs for this much memory each, in tenths of a GiB: processors and memory of the control group, not the host's.
parallel_jobs() {
  local threads memory limit quota period
  threads=$(nproc)
  memory=$(awk '/^MemTotal:/ { print int($2 / 104857.6) }' /proc/meminfo)
  limit=max
  for file in /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes; do
    if [ -r "$file" ]; then limit=$(cat "$file"); break; fi
  done
  if [ "$limit" != max ] && [ "${#limit}" -lt 16 ] && [ "$((limit / 107374182))" -lt "$memory" ]; then
    memory=$((limit / 107374182))
  fi
  if [ -r /sys/fs/cgroup/cpu.max ]; then
    read -r quota period </sys/fs/cgroup/cpu.max
    if [ "$quota" != max ] && [ "$((quota / period))" -lt "$threads" ]; then threads=$((quota / period)); fi
  fi
  local jobs=$((memory / $1))
  if [ "$threads" -lt "$jobs" ]; then jobs=$threads; fi
  if [ "$jobs" -lt 1 ]; then jobs=1; fi
  echo "$jobs"
}
<% endif %>
<% for step in steps %>

# << loop.index >>/<< steps|length >> << step.stage >>
(
<% for path in step.clean %>
  [ -n "${ROCK_FROM:-}" ] && [ "$ROCK_FROM" != << step.stage_word >> ] || rm -rf -- << path >>
<% endfor %>
<% for line in step.environment %>
  << line >>
<% endfor %>
  stage << step.stage_word >> << step.seconds >> << step.tries >> << step.command >>
<% for output in step.outputs %>
  expects << output.glob >> << output.count >>
<% endfor %>
  finished << step.stage_word >>
)
[ "${ROCK_FROM:-}" != << step.stage_word >> ] || ROCK_FROM=
<% endfor %>
echo "== built $(compgen -G << wheels >> | tr '\n' ' ')"
