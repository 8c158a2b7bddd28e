#!/usr/bin/env python3
"""`render workflow` beside an empty static program, in one run.

    python3 benches/render_workflow.py [--binary target/dist/rock-matrix] [--rounds 21]

Prints the time for 256 and for 294 jobs, the median over rounds that alternate the two sides, and exits with 1 when a
bar is missed: 10 ms for 256 jobs, 8 times the empty program for 294.
"""

import pathlib
import sys
import tempfile

from matrices import alternate, arguments, empty_program, write_recipe


def main():
    options = arguments(__doc__, 21)
    missed = False
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        write_recipe(folder)
        empty = empty_program(folder)
        for jobs in (256, 294):
            versions = ", ".join(f'"1.{number}"' for number in range(jobs // 2))
            matrix = folder / f"{jobs}.yaml"
            matrix.write_text(
                "version: 1\ndistribution: bench\nrecipe: bench\ngfx: [gfx90a, gfx942]\naxes:\n"
                f'  bench: [{versions}]\n  python: ["3.11", "3.12"]\n  torch: ["2.9.1"]\n  rocm: ["6.4"]\n'
            )
            render = [options.binary, "render", "workflow", "--recipes", "recipes", matrix.name]
            ours, theirs = alternate(render, [empty], options.rounds, folder)
            ratio = ours / theirs
            bar, kept = ("10 ms", ours <= 0.010) if jobs == 256 else ("8 times", ratio <= 8)
            missed |= not kept
            print(
                f"render workflow for {jobs} jobs: {ours * 1e3:.2f} ms, empty static program {theirs * 1e3:.2f} ms: "
                f"{ratio:.2f} times its time (bar: {bar})"
            )
    sys.exit(missed)


main()
