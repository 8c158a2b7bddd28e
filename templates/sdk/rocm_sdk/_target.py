"""Which GPUs this machine is for, in the words that the packages are published under.

Asked in three places: the variable, the machine, the default of the build.
`setup.py` asks too, in an environment where nothing else of the SDK is installed.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import sysconfig
from functools import lru_cache
from pathlib import Path
from typing import List, Optional, Sequence

from . import _dist_info

# What families are called after the targets they stand for, in the order in which they are tried.
_KINDS = ("-all", "-dgpu", "-igpu", "-dcgpu")
# A GPU that hangs must not hang an import.
_TIMEOUT_S = 60


def families_of(target: str) -> List[str]:
    """Names under which packages for a target may be published, the target among them."""
    base = target.partition(":")[0]
    stem = base[:-1] + "X"
    return [*(stem + kind for kind in _KINDS), base, *(base + kind for kind in _KINDS)]


def published_for(name: str, available: Sequence[str]) -> Optional[str]:
    """What serves a target or a family, of what there is."""
    if name in available:
        return name
    hits = [family for family in families_of(name) if family in available]
    # A family is asked for, and single targets are published.
    hits += [target for target in available if name in families_of(target)]
    return hits[0] if hits else None


def _say(text: str) -> None:
    if os.environ.get("ROCM_SDK_VERBOSE") == "1":
        print(f"rocm-sdk: {text}", file=sys.stderr)


def targets_of_tool() -> List[str]:
    """What `offload-arch` prints, in its order; nothing where it is absent or fails."""
    folders = [sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)]
    program = shutil.which("offload-arch", path=os.pathsep.join(folders))
    if program is None:
        return []
    # Slow to import, and most machines have no such program.
    import subprocess

    is_verbose = os.environ.get("ROCM_SDK_VERBOSE") == "1"
    try:
        done = subprocess.run(
            [program],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=None if is_verbose else subprocess.DEVNULL,
            timeout=_TIMEOUT_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        _say(f"{program} tells no GPU: {error}")
        return []
    lines = [line.strip() for line in done.stdout.decode("utf-8", "replace").splitlines()]
    return [line for line in lines if re.fullmatch(r"gfx[0-9a-f]+(:[a-z]+[+-])*", line)]


def targets_of_kernel(sysfs: Optional[Path] = None) -> List[str]:
    """The GPUs in the topology of the kernel's driver, by node number.

    The property is a decimal number MMmmss: 90010 is gfx90a, 110501 is gfx1151. It is 0 for a processor.
    """
    sysfs = Path(os.environ.get("ROCM_SDK_SYSFS_ROOT", "/sys")) if sysfs is None else sysfs
    nodes = sysfs / "class/kfd/kfd/topology/nodes"
    found = []
    for node in sorted(nodes.glob("[0-9]*"), key=lambda path: (len(path.name), path.name)):
        try:
            properties = (node / "properties").read_text("utf-8", "replace")
        except OSError:
            continue
        version = re.search(r"^gfx_target_version (\d+)$", properties, re.MULTILINE)
        number = int(version.group(1)) if version else 0
        if number:
            found.append(f"gfx{number // 10000}{number // 100 % 100:x}{number % 100:x}")
    return found


@lru_cache(maxsize=None)
def target_family() -> str:
    """The target family for this process: of those that there are packages for, the one that fits the machine best.

    Raises ValueError where the variable names none of them, or there are none.
    """
    available = _dist_info.AVAILABLE_TARGET_FAMILIES
    wanted = os.environ.get("ROCM_SDK_TARGET_FAMILY", "").strip()
    if wanted:
        chosen = published_for(wanted, available)
        if chosen is None:
            choices = ", ".join(available) or "none"
            raise ValueError(f"ROCM_SDK_TARGET_FAMILY is {wanted!r}; there are packages for: {choices}")
        return chosen
    for target in targets_of_tool() or targets_of_kernel():
        chosen = published_for(target, available)
        if chosen is not None:
            _say(f"{target} is here, so the packages are those for {chosen}")
            return chosen
    if not _dist_info.DEFAULT_TARGET_FAMILY:
        raise ValueError("this build of the SDK has no packages for single GPUs")
    _say(f"no GPU that there are packages for is found; the default is {_dist_info.DEFAULT_TARGET_FAMILY}")
    return _dist_info.DEFAULT_TARGET_FAMILY
