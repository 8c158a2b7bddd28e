"""What the benchmarks of matrices share: the options, a recipe, an empty program, and sides that take turns."""

import argparse
import os
import pathlib
import statistics
import subprocess
import time

RECIPE = 'recipe: 1\nname: bench\ndistribution: bench\nsteps:\n  - stage: build\n    argv: ["true"]\ncollect: {wheels: "dist/*.whl"}\n'


def arguments(text, rounds):
    """The options, with the path of our program from the root."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default="target/dist/rock-matrix", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=rounds)
    options = parser.parse_args()
    options.binary = str(options.binary.resolve())
    return options


def write_recipe(folder):
    (folder / "recipes").mkdir()
    (folder / "recipes" / "bench.yaml").write_text(RECIPE)


def empty_program(folder):
    """A static program that does nothing: the least time that any program takes."""
    source, program = folder / "empty.rs", folder / "empty"
    source.write_text("fn main() {}\n")
    subprocess.run(["rustc", "-O", "-C", "target-feature=+crt-static", "-o", program, source], check=True)
    return str(program)


def seconds(argv, folder=None):
    begin = time.perf_counter()
    with open(os.devnull, "wb") as sink:
        subprocess.run(argv, stdout=sink, stderr=subprocess.PIPE, check=True, cwd=folder)
    return time.perf_counter() - begin


def alternate(ours, peer, rounds, folder=None):
    """Median seconds of each side, run in this folder; the sides take turns so that a noisy machine hits both."""
    both = ([], [])
    for _ in range(rounds):
        both[0].append(seconds(ours, folder))
        both[1].append(seconds(peer, folder))
    return statistics.median(both[0]), statistics.median(both[1])
