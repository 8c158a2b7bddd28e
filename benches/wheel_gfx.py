#!/usr/bin/env python3
"""`wheel gfx` beside plain inflating of the library that it reads, in one run.

    python3 benches/wheel_gfx.py [--binary target/dist/rock-matrix] [--rounds 9]

The wheel is onnxruntime-rocm, 57 MB with a library of 513 MB that holds the code objects. No other program lists them
to be a peer. Exits with 1 when a bar is missed.
"""

import wheels

NAME = ("onnxruntime-rocm", "1.22.2.post3")


def main():
    options = wheels.arguments(__doc__, 9)
    path = wheels.wheel(*NAME)
    member, size_bytes = wheels.elf_members(path)[0]
    measured = wheels.in_turns(
        {
            "ours": (lambda: wheels.run([options.binary, "wheel", "gfx", "--json", path]), 1),
            "plain": (lambda: wheels.run([options.inflate, "1", path, member]), 1),
        },
        options.rounds,
    )
    ours, plain = measured["ours"], measured["plain"]
    print(f"{path.name}: {path.stat().st_size / 1e6:.0f} MB, {member} of {size_bytes / 1e6:.0f} MB")
    print(f"wheel gfx          {ours.wall_s:.3f} s wall, {ours.cpu_s:.3f} s CPU")
    print(f"inflate the member {plain.wall_s:.3f} s wall, {plain.cpu_s:.3f} s CPU")
    print(f"CPU time by that of inflating: {ours.cpu_s / plain.cpu_s:.2f} times")
    bars = wheels.Bars()
    bars.at_most("wall time by that of inflating the member", ours.wall_s / plain.wall_s, 1.5)
    bars.peak("gfx", ours.peak_bytes, size_bytes)
    bars.end()


if __name__ == "__main__":
    main()
