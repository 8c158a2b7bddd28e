#!/usr/bin/env python3
"""Labels a large wheel, beside `cp` followed by `sync` of the same file, in one run.

    python3 benches/label_large_wheel.py [--binary target/dist/rock-matrix] [--rounds 9] [--megabytes 300]

The wheel holds members that do not compress, as compiled kernels hardly do. The two sides take turns; each result is
removed before the next turn. Prints the median ratio with the spread of both sides, and our peak memory.
Exits with 1 when the ratio is above 1.3 or the memory is 64 MB or more.
"""

import argparse
import base64
import hashlib
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
RATIO_BAR = 1.3
MEMORY_BAR_MB = 64
NAME = "bench-1.0-cp312-cp312-linux_x86_64.whl"


def make_wheel(path, megabytes):
    """A wheel of one library of half the size, and smaller files for the rest."""
    source = random.Random(1)
    rows = []

    def add(archive, name, content):
        archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED, 1)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        rows.append(f"{name},sha256={digest},{len(content)}\n")

    with zipfile.ZipFile(path, "w") as archive:
        add(archive, "bench/large.so", source.randbytes((megabytes << 20) // 2))
        for number in range(200):
            add(archive, f"bench/part{number}.so", source.randbytes((megabytes << 20) // 400))
        info = "bench-1.0.dist-info"
        add(archive, f"{info}/METADATA", b"Metadata-Version: 2.1\nName: bench\nVersion: 1.0\n")
        add(archive, f"{info}/WHEEL", b"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: cp312-cp312-linux_x86_64\n")
        archive.writestr(f"{info}/RECORD", "".join(rows) + f"{info}/RECORD,,\n")


def run(argv):
    """Seconds and peak memory in bytes of a command."""
    begin = time.perf_counter()
    child = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{argv} ended with {child.returncode}")
    return time.perf_counter() - begin, usage.ru_maxrss * 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=HERE.parent / "target/dist/rock-matrix", type=pathlib.Path)
    parser.add_argument("--rounds", default=9, type=int)
    parser.add_argument("--megabytes", default=300, type=int)
    parser.add_argument("--make", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--dir", help="make the files below this folder instead of TMPDIR")
    arguments = parser.parse_args()
    if arguments.make:
        make_wheel(arguments.make, arguments.megabytes)
        return
    if not arguments.binary.exists():
        sys.exit(f"{arguments.binary} is missing: cargo build --profile dist")

    with tempfile.TemporaryDirectory(dir=arguments.dir) as folder:
        wheel = pathlib.Path(folder, NAME)
        # Made by another process: a child's peak memory counts from that of the process it was forked from.
        made = [sys.executable, __file__, "--make", wheel, "--megabytes", str(arguments.megabytes)]
        subprocess.run(made, check=True)
        copied, labelled = pathlib.Path(folder, "copy.whl"), pathlib.Path(folder, "out")
        result = labelled / NAME.replace("1.0", "1.0+rocm62torch2.5")
        ours = [arguments.binary, "wheel", "label", wheel, "--local", "rocm62torch2.5", "-w", labelled]

        def copy():
            copied.unlink(missing_ok=True)
            os.sync()
            first, _ = run(["cp", wheel, copied])
            second, _ = run(["sync", copied])
            return first + second

        def label():
            result.unlink(missing_ok=True)
            os.sync()
            return run(ours)

        copy(), label()  # warms the cache
        peer, own, peak = [], [], 0
        for turn in range(arguments.rounds):
            # Each side goes first as often as the other.
            if turn % 2:
                peer.append(copy())
            seconds, memory = label()
            own.append(seconds)
            peak = max(peak, memory)
            if not turn % 2:
                peer.append(copy())
        subprocess.run([arguments.binary, "wheel", "verify", result], check=True, stdout=subprocess.DEVNULL)

    ratio = statistics.median(own) / statistics.median(peer)
    paired = statistics.median(one / other for one, other in zip(own, peer))
    memory = peak / 1e6
    for name, times in (("cp, then sync", peer), ("wheel label", own)):
        print(f"{name:14} median {statistics.median(times):.3f} s, {min(times):.3f} to {max(times):.3f} s")
    print(f"ratio          {ratio:.2f} of medians, {paired:.2f} median of pairs (must be at most {RATIO_BAR})")
    print(f"peak memory    {memory:.1f} MB (must be under {MEMORY_BAR_MB})")
    if ratio > RATIO_BAR or memory >= MEMORY_BAR_MB:
        sys.exit(1)


if __name__ == "__main__":
    main()
