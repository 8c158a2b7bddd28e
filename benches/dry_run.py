#!/usr/bin/env python3
"""`build --dry-run` of the torch recipe beside an empty static program, in one run.

    python3 benches/dry_run.py [--binary target/dist/rock-matrix] [--rounds 41]

The job builds torch with Triton, torchaudio, torchvision and Apex. Prints the median over rounds that alternate the two
sides, and exits with 1 when the bar of 10 times is missed.
"""

import pathlib
import sys
import tempfile

from matrices import alternate, arguments, empty_program

MATRIX = """version: 1
distribution: torch
axes: {python: ["3.12"], torch-ref: [release/2.12], rocm: ["7.14.0"]}
gfx: [gfx942, gfx1151]
unknown: lenient
torch-from: host
python-from: host
"""


def main():
    options = arguments(__doc__, 41)
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        (folder / "torch.yaml").write_text(MATRIX)
        build = [options.binary, "build", "--all", "--matrix", "torch.yaml", "--dry-run"]
        ours, theirs = alternate(build, [empty_program(folder)], options.rounds, folder)
    ratio = ours / theirs
    print(f"build --dry-run of torch: {ours * 1e3:.2f} ms, empty static program {theirs * 1e3:.2f} ms: {ratio:.2f} times its time (bar: 10)")
    sys.exit(ratio > 10)


main()
