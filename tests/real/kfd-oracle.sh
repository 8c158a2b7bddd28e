#!/usr/bin/env bash
# The GPUs that `doctor` reads out of seven machines' topology trees are those that two tools of AMD's read there:
# rocm-bootstrap, told where the tree is, and rocm_agent_enumerator, which finds the tree at /sys/class/kfd.
set -euo pipefail
# shellcheck source=tests/real/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
needs python3-pip python3-venv rocminfo
needs_pypi rocm-bootstrap

trees=(tests/fixtures/kfd/*/)
expect_equal "topology trees" 7 "${#trees[@]}"
can_mount=yes
unshare -m mount -t tmpfs none /sys/class 2>/dev/null || can_mount=no
[ "$can_mount" = yes ] || step "rocm_agent_enumerator is not asked: this user may not mount"
for tree in "${trees[@]}"; do
  step "$(basename "$tree")"
  theirs=$("$tools/bin/python" - "$tree" <<'PY'
import pathlib, sys

from rocm_bootstrap import _platform

_platform.KFD_TOPOLOGY = pathlib.Path(sys.argv[1]) / "sys/class/kfd/kfd/topology/nodes"
from rocm_bootstrap import detect

print(" ".join(sorted(gpu.target.name for gpu in detect.detect_gpus())))
PY
  )
  # `doctor` may find fault with the rest of this machine: its report is what counts here, not its exit code.
  report=$(rock doctor --sysfs-root "$tree" --format json) || true
  ours=$("$host_python" -c '
import json, sys
print(" ".join(sorted(gpu["gfx"] for gpu in json.load(sys.stdin)["gpus"])))' <<<"$report")
  expect_equal "$(basename "$tree")" "$theirs" "$ours"
  [ "$can_mount" = yes ] || continue
  # A mount namespace of its own: nothing outside sees the tree. The first target, gfx000, stands for the CPU.
  # shellcheck disable=SC2016  # the inner shell expands it
  seen=$(unshare -m sh -c 'mount -t tmpfs none /sys/class && mkdir /sys/class/kfd &&
    mount --bind "$1/sys/class/kfd" /sys/class/kfd && rocm_agent_enumerator 2>/dev/null' - "$PWD/$tree" |
    grep -vx gfx000 | sort | paste -sd' ' || true)
  expect_equal "$(basename "$tree") at /sys" "$seen" "$ours"
done
