#!/usr/bin/env bash
# The GPUs that `doctor` reads out of seven machines' topology trees are those that AMD's rocm-bootstrap reads.
set -euo pipefail
# shellcheck source=tests/real/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
needs python3-pip python3-venv
needs_pypi rocm-bootstrap

trees=(tests/fixtures/kfd/*/)
expect_equal "topology trees" 7 "${#trees[@]}"
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
done
