#!/usr/bin/env python3
"""The action with a cached binary beside what it cannot do without, in one run.

    python3 benches/bootstrap.py [--binary target/dist/rock-matrix] [--rounds 31]

The peer is one `sha256sum` of the binary and 20 starts of an empty bash, one after the other. Prints the medians over
rounds that alternate the two sides, and exits with 1 when the action takes more than 1.5 times as long.
"""

import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import matrices

ROOT = pathlib.Path(__file__).resolve().parent.parent
BAR = 1.5
STARTS = 20


def seconds(*commands, **options):
    begin = time.perf_counter()
    for argv in commands:
        subprocess.run(argv, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, **options)
    return time.perf_counter() - begin


def main():
    options = matrices.arguments(__doc__, 31)
    version = re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[1]
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        shutil.copytree(ROOT / "action", folder / "tree/action")
        shutil.copy(ROOT / "Cargo.toml", folder / "tree")
        platform = f"{os.uname().machine}-linux"
        cached = folder / "tools/rock-matrix" / version / platform / "rock-matrix"
        for path in [cached, folder / "dist" / f"rock-matrix-{platform}"]:
            path.parent.mkdir(parents=True)
            shutil.copy(options.binary, path)
        subprocess.run([folder / "tree/action/add-version.sh", version, folder / "dist"], check=True)
        variables = {
            "PATH": "/usr/bin:/bin",
            "RUNNER_OS": "Linux",
            "RUNNER_TEMP": temporary,
            "RUNNER_TOOL_CACHE": str(folder / "tools"),
            "GITHUB_ACTIONS": "true",
            "GITHUB_OUTPUT": str(folder / "outputs"),
            "GITHUB_PATH": str(folder / "path"),
            "INPUT_TOKEN": "secret",
        }
        # As action.yml starts it: the runner's bash becomes that of the script.
        script = folder / "run.sh"
        script.write_text(f'exec bash "{folder}/tree/action/bootstrap.sh"\n')
        ours = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", script]
        said = subprocess.run(ours, check=True, capture_output=True, text=True, env=variables).stdout
        if "from the tool cache" not in said:
            sys.exit(f"the binary was not found in the cache: {said}")
        peer = [["sha256sum", cached], *[["bash", "-c", ":"]] * STARTS]
        both = ([], [])
        for _ in range(options.rounds):
            both[0].append(seconds(ours, env=variables))
            both[1].append(seconds(*peer, env=variables))
        ours, theirs = (statistics.median(side) for side in both)
        size = cached.stat().st_size / 1e6
    print(
        f"action with a cached binary of {size:.1f} MB: {ours * 1e3:.1f} ms, sha256sum of it and {STARTS} empty bash "
        f"starts {theirs * 1e3:.1f} ms: {ours / theirs:.2f} times its time (bar: {BAR} times)"
    )
    sys.exit(ours / theirs > BAR)


main()
