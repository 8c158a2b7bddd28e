#!/usr/bin/env python3
"""`render workflow` beside an empty static program, in one run.

    python3 benches/render_workflow.py [--binary target/release/rock-matrix] [--rounds 21]

Prints the time for 256 and for 294 jobs, the median over rounds that alternate the two sides, and exits with 1 when a
bar is missed: 10 ms for 256 jobs, 8 times the empty program for 294.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time


def seconds(argv, folder):
    begin = time.perf_counter()
    with open(os.devnull, "wb") as sink:
        subprocess.run(argv, stdout=sink, stderr=subprocess.PIPE, check=True, cwd=folder)
    return time.perf_counter() - begin


def alternate(ours, peer, folder, rounds):
    both = ([], [])
    for _ in range(rounds):
        both[0].append(seconds(ours, folder))
        both[1].append(seconds(peer, folder))
    return statistics.median(both[0]), statistics.median(both[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default="target/release/rock-matrix")
    parser.add_argument("--rounds", type=int, default=21)
    options = parser.parse_args()
    binary = str(pathlib.Path(options.binary).resolve())
    missed = False
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        (folder / "recipes").mkdir()
        (folder / "recipes" / "bench.yaml").write_text(
            "recipe: 1\nname: bench\ndistribution: bench\nsteps:\n  - stage: build\n    argv: [\"true\"]\n"
        )
        empty = folder / "empty"
        (folder / "empty.rs").write_text("fn main() {}\n")
        subprocess.run(["rustc", "-O", "-C", "target-feature=+crt-static", "-o", empty, folder / "empty.rs"], check=True)
        for jobs in (256, 294):
            versions = ", ".join(f'"1.{number}"' for number in range(jobs // 2))
            matrix = folder / f"{jobs}.yaml"
            matrix.write_text(
                "version: 1\ndistribution: bench\nrecipe: bench\ngfx: [gfx90a, gfx942]\naxes:\n"
                f'  bench: [{versions}]\n  python: ["3.11", "3.12"]\n  torch: ["2.9.1"]\n  rocm: ["6.4"]\n'
            )
            render = [binary, "render", "workflow", "--recipes", "recipes", matrix.name]
            ours, theirs = alternate(render, [str(empty)], folder, options.rounds)
            ratio = ours / theirs
            bar, kept = ("10 ms", ours <= 0.010) if jobs == 256 else ("8 times", ratio <= 8)
            missed |= not kept
            print(
                f"render workflow for {jobs} jobs: {ours * 1e3:.2f} ms, empty static program {theirs * 1e3:.2f} ms: "
                f"{ratio:.2f} times its time (bar: {bar})"
            )
    sys.exit(missed)


main()
