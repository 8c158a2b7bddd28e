<% macro stage(step, number, of) %>

# << number >>/<< of >>
if begins << step.stage >>; then
<% for path in step.clean %>
  rm -rf -- << path >>
<% endfor %>
  run << step.stage >> << step.seconds >> << step.tries >> \
<% for line in step.lines %>
    << line >><% if not loop.last %> \<% endif %>

<% endfor %>
<% for output in step.outputs %>
  expects << output.glob >> << output.count >>
<% endfor %>
<% if step.asks %>
  facts
<% endif %>
  : >done/<< step.stage >>
fi
<% endmacro %>
#!/usr/bin/env bash
# << wheel >>
# Job << job >>, by << generator >>.<% if site == "container" %> It runs in a container that has the job's folder at << folder >>.<% else %> It runs on this machine, in the folder it is called from.<% endif %>

#   ROCK_FOLDER=DIR   the job's folder
#   ROCK_FROM=STAGE   starts at this stage and skips those before it
#   ROCK_CAP_S=N      exits with 124 after N seconds, so that the next run can resume
# Programs are in single quotes: their interpreters expand them, not this shell.
# shellcheck disable=SC2016
set -euo pipefail
export ROCK_FOLDER=${ROCK_FOLDER:-<< folder >>}
<% if uses_caller %>
export ROCK_CALLER=${ROCK_CALLER:-<< caller >>}
<% endif %>
<% if sources %>
# Sources must exist, unless an earlier run copied them.
missing=''
source_of() {
  [ -e "$2" ] || { echo "== the source $1 is to come from $2, which is not there" >&2; missing=yes; }
}
if [ -z "${ROCK_FROM:-}" ]; then
<% for source in sources %>
  source_of << source.name >> << source.path >>
<% endfor %>
  [ -z "$missing" ] || exit 1
fi
<% endif %>
mkdir -p "$ROCK_FOLDER/done"
cd "$ROCK_FOLDER"
<% for program in programs %>

<< program.name >>=<< program.text >>
<% endfor %>

# Time and disk use are written at every exit.
free_bytes() { df --output=avail -B1 . 2>/dev/null | tail -n 1 | tr -d ' ' || true; }
disk_before=$(free_bytes)
measure() {
  local status=$? bytes=0 file
  for file in $(compgen -G << wheels >> || true); do bytes=$((bytes + $(stat -c %s "$file"))); done
  printf '{"version":1,"job":"%s","exit":%d,"seconds":%d,"disk_before_bytes":%d,"disk_after_bytes":%d,"wheel_bytes":%d}\n' \
    << id >> "$status" "$SECONDS" "$disk_before" "$(free_bytes)" "$bytes" >measured.json
  exit "$status"
}
trap measure EXIT
# `timeout` forwards a signal to its process group and kills the group after 30 s. A signal that arrives while it starts the
# command ends `timeout` alone (seen with coreutils 9.1), so the group is signalled too.
stop() {
  trap '' TERM INT HUP
  local child
  # From the shell's job table: a signal may arrive before a variable holds the process ID.
  for child in $(jobs -p); do
    kill -TERM "$child" 2>/dev/null || true
    wait "$child" || true
    kill -TERM -- "-$child" 2>/dev/null || true
  done
  exit "$1"
}
trap 'stop 143' TERM
trap 'stop 130' INT
trap 'stop 129' HUP

# Whether a stage runs, or is skipped because ROCK_FROM is a later one.
from=${ROCK_FROM:-}
begins() {
  if [ "$from" = "$1" ]; then from=; fi
  [ -z "$from" ] || { echo "== $1: done before"; return 1; }
  rm -f "done/$1"
  [ -n "$given_date" ] || date_sources
}
# For reproducible builds, archives get the time of the newest commit of the sources. Without a commit, they get the earliest
# time that a zip archive can contain.
given_date=${SOURCE_DATE_EPOCH:-}
date_sources() {
  SOURCE_DATE_EPOCH=$(cat facts/source_date.* 2>/dev/null | sort -n | tail -n 1)
  export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-<< first_date >>}
}
<% if has_last %>
# Exits with the status of the first failure, after the final stages.
failed='' finishing=''
fail() {
  if [ -z "$failed" ]; then
    failed=$1
    if [ -z "$finishing" ]; then
      # The cap applies only if nothing failed.
      unset ROCK_CAP_S
      finish
    fi
  fi
  exit "$failed"
}
<% endif %>
# Runs a stage's command: name, seconds (0: no limit), tries, command.
run() {
  local name=$1 limit=$2 tries=$3 status capped left began
  shift 3
  while :; do
    echo "== $name"
    capped=''
    left=$limit
    began=$SECONDS
    if [ -n "${ROCK_CAP_S:-}" ]; then
      local until_cap=$((ROCK_CAP_S - SECONDS))
      [ "$until_cap" -gt 0 ] || { echo "== $name: the cap has passed" >&2; exit 124; }
      if [ "$left" -eq 0 ] || [ "$until_cap" -le "$left" ]; then left=$until_cap capped=yes; fi
    fi
    # In the background, so that signals are handled while it runs; 0 seconds mean no limit.
    status=0
    timeout --kill-after=30 "$left" "$@" </dev/null &
    wait "$!" || status=$?
    [ "$status" -ne 0 ] || return 0
    # `timeout` exits with 124 if it stopped the command, and with 137 if it had to kill it. The command may exit with these
    # too, or be killed when memory runs out, so the clock decides.
    if [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
      if [ -n "$capped" ] && [ "$SECONDS" -ge "$ROCK_CAP_S" ]; then
        echo "== $name: stopped at the cap" >&2
        exit 124
      fi
      if [ "$left" -gt 0 ] && [ $((SECONDS - began)) -ge "$left" ]; then
        echo "== $name: more than $limit s" >&2
        status=1
      fi
    fi
    tries=$((tries - 1))
    if [ "$tries" -le 0 ]; then
      echo "== $name: failed with $status" >&2
      # 124 is reserved for the cap.
      [ "$status" -ne 124 ] || status=1
      << "fail" if has_last else "exit" >> "$status"
    fi
    echo "== $name: failed with $status, trying again"
  done
}
# Fails unless a glob matches exactly this many files.
expects() {
  local found
  mapfile -t found < <(compgen -G "$1" || true)
  [ "${#found[@]}" -eq "$2" ] || { echo "== $2 expected for $1, ${#found[@]} there" >&2; << "fail" if has_last else "exit" >> 1; }
}
<% if uses_jobs %>
# Number of parallel jobs that need this much memory each, in tenths of a GiB, within the limits of the control group.
parallel_jobs() {
  local threads memory group file limit quota period jobs
  threads=$(nproc)
  memory=$(awk '/^MemTotal:/ { print int($2 / 104857.6) }' /proc/meminfo)
  group=$(sed -n 's/^0:://p' /proc/self/cgroup)
  for file in "/sys/fs/cgroup$group/memory.max" /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes; do
    [ -r "$file" ] || continue
    limit=$(cat "$file")
    # Without a limit, the file has `max`, or a number near 2^63.
    if [ "$limit" != max ] && [ "${#limit}" -lt 17 ] && [ $((limit / 107374182)) -lt "$memory" ]; then
      memory=$((limit / 107374182))
    fi
  done
  for file in "/sys/fs/cgroup$group/cpu.max" /sys/fs/cgroup/cpu.max; do
    [ -r "$file" ] || continue
    read -r quota period <"$file"
    if [ "$quota" != max ] && [ $((quota / period)) -lt "$threads" ]; then threads=$((quota / period)); fi
  done
  if [ -r /sys/fs/cgroup/cpu/cpu.cfs_quota_us ]; then
    quota=$(cat /sys/fs/cgroup/cpu/cpu.cfs_quota_us)
    period=$(cat /sys/fs/cgroup/cpu/cpu.cfs_period_us)
    if [ "$quota" -gt 0 ] && [ $((quota / period)) -lt "$threads" ]; then threads=$((quota / period)); fi
  fi
  jobs=$((memory / $1))
  if [ "$threads" -lt "$jobs" ]; then jobs=$threads; fi
  if [ "$jobs" -lt 1 ]; then jobs=1; fi
  echo "$jobs"
}
<% endif %>
<% if facts %>
# Facts that earlier stages determined; not all of them are used.
# shellcheck disable=SC2034
facts() {
<% for name in facts %>
  ROCK_FACT_<< name >>=$(cat facts/<< name >> 2>/dev/null || true)
<% endfor %>
}
facts
<% endif %>
<% if has_last %>
# Stages that run at the end, even after a failure.
finish() {
  finishing=yes
<% for step in steps if step.finally %>
<< stage(step, steps|length - loop.length + loop.index, steps|length) >><% endfor %>
}
<% endif %>
<% for step in steps %>
<% if not step.finally %>
<< stage(step, loop.index, steps|length) >><% endif %>
<% endfor %>

<% if has_last %>
finish
<% endif %>
[ -z "$from" ] || { echo "== no stage is called $from" >&2; exit 2; }
<% if finishing %>
# If rock-matrix is installed, it sets the label and the platform tag of the wheels.
mapfile -t built < <(compgen -G << wheels >> || true)
if command -v rock-matrix >/dev/null; then
  for wheel in "${built[@]}"; do
    << finishing >> << "--replace" if "wheel repair" in finishing else "--force" >> --out finished "$wheel"
  done
  echo "== finished $(compgen -G 'finished/*.whl' | tr '\n' ' ')"
else
  echo "== to finish the wheel, run in $ROCK_FOLDER: << finishing >> --out finished ${built[*]}"
fi
<% elif wheels != "''" %>
echo "== built $(compgen -G << wheels >> | tr '\n' ' ')"
<% endif %>
