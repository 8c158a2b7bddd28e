"""What `rocm-sdk test` runs: that the packages of this environment fit each other and keep what they promise.

The tests change nothing but what any first use changes. They need no GPU.
"""

from __future__ import annotations

import subprocess
import sys
from typing import List


def run(*argv: str) -> "subprocess.CompletedProcess[str]":
    """Runs a program to its end, whatever that is."""
    return subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def rocm_sdk(*arguments: str) -> "subprocess.CompletedProcess[str]":
    """Runs the command with this interpreter."""
    return run(sys.executable, "-m", "rocm_sdk", *arguments)


def faults_of_loading(package: str) -> List[str]:
    """The libraries of a package that are missing or cannot be loaded, each tried in a process of its own."""
    from .. import _dist_info

    code = "import sys, rocm_sdk; rocm_sdk.preload_libraries(sys.argv[1])"
    faults = []
    for name in sorted(name for name, row in _dist_info.LIBRARIES.items() if row["package"] == package):
        done = run(sys.executable, "-c", code, name)
        if done.returncode != 0:
            faults.append(f"{name}: {(done.stderr.strip().splitlines() or [f'code {done.returncode}'])[-1]}")
    return faults
