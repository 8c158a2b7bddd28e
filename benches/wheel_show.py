#!/usr/bin/env python3
"""`wheel show` beside `auditwheel show` on real wheels, and beside plain inflating, in one run.

    python3 benches/wheel_show.py [--binary target/dist/rock-matrix] [--rounds 3]

The wheels are compiled ones of PyPI from 0.5 to 90 MB, those with code for AMD GPUs first and then what is installed
beside them, and one of 1 GB unpacked. The ratios are auditwheel's time by ours; of the large one also ours by that of
inflating its ELF files once. Exits with 1 when a bar is missed.
"""

import os

import wheels

WHEELS = [
    ("torch-cluster-rocm", "1.6.3"),
    ("jax-rocm7-plugin", "0.12.0"),
    ("gafime-rocm", "0.4.7"),
    ("rocm-bindings-hip", "10.0.0" + ".0.1.2"),  # in one piece it reads as an address
    ("onnxruntime-rocm", "1.22.2.post3"),
    ("numpy", "2.5.5"),
    ("scipy", "1.18.1"),
    ("pandas", "3.1.1"),
    ("scikit-learn", "1.9.1"),
    ("pyarrow", "26.0.1"),
    ("llvmlite", "0.50.0"),
    ("torchvision", "0.29.2"),
    ("opencv-python-headless", "5.0.0.93"),
    ("pillow", "13.0.0"),
    ("matplotlib", "3.11.2"),
    ("h5py", "3.16.0"),
    ("grpcio", "1.85.1"),
    ("lxml", "6.1.3"),
    ("safetensors", "0.8.0"),
    ("tokenizers", "0.23.3"),
    ("tiktoken", "0.14.0"),
    ("sentencepiece", "0.2.3"),
]
LARGE = ("triton", "3.9.0")
# How often ours runs while auditwheel runs once: it is short, and what else a machine does weighs more on it.
OFTEN = 5


def show(options, name, number, often, floors):
    """Measures one wheel and prints its row."""
    path = wheels.wheel(name, number)
    members = wheels.elf_members(path)
    largest = [options.inflate, path, *(member for member, _ in members)]
    sides = {
        "ours": (lambda: wheels.run([options.binary, "wheel", "show", "--json", path]), often),
        "peer": (lambda: wheels.run([wheels.tools() / "auditwheel", "show", "--json", path]), 1),
    }
    for threads in floors:
        plain = [largest[0], str(threads), *largest[1:]]
        sides[f"inflate {threads}"] = (lambda plain=plain: wheels.run(plain), often)
    measured = wheels.in_turns(sides, options.rounds)
    ours, peer = measured["ours"], measured["peer"]
    row = f"{name:24} {path.stat().st_size / 1e6:6.1f} {len(members):4}"
    row += f" {peer.cpu_s:8.2f} {ours.cpu_s:7.3f} {peer.cpu_s / ours.cpu_s:6.1f}"
    row += f" {peer.wall_s:8.2f} {ours.wall_s:7.3f} {peer.wall_s / ours.wall_s:6.1f} {ours.peak_bytes / 1e6:5.0f}"
    print(row, flush=True)
    return measured, members[0][1]


def main():
    options = wheels.arguments(__doc__, 3)
    bars = wheels.Bars()
    print(f"{'wheel':24} {'MB':>6} {'ELF':>4} {'peer CPU':>8} {'ours':>7} {'ratio':>6}", end="")
    print(f" {'wall':>8} {'ours':>7} {'ratio':>6} {'MB':>5}")
    rows = {name: show(options, name, number, OFTEN, []) for name, number in WHEELS}
    measured = {name: row for name, (row, _) in rows.items()}
    processor = {name: row["peer"].cpu_s / row["ours"].cpu_s for name, row in measured.items()}
    wall = {name: row["peer"].wall_s / row["ours"].wall_s for name, row in measured.items()}
    print(f"{len(rows)} wheels")
    bars.at_least("CPU time, geometric mean", wheels.geometric_mean(processor.values()), 20)
    bars.at_least("wall time, geometric mean", wheels.geometric_mean(wall.values()), 30)
    slowest = min(processor, key=processor.get)
    bars.at_least(f"CPU time of the worst, {slowest}", processor[slowest], 1)
    slowest = min(wall, key=wall.get)
    bars.at_least(f"wall time of the worst, {slowest}", wall[slowest], 1)
    above = {name: row["ours"].peak_bytes - member for name, (row, member) in rows.items()}
    most = max(above, key=above.get)
    bars.peak(f"the most beyond its largest library, {most}", measured[most]["ours"].peak_bytes, rows[most][1])

    threads = os.cpu_count() or 1
    large, member = show(options, *LARGE, 3, sorted({1, threads}))
    ours, peer, plain = large["ours"], large["peer"], large["inflate 1"]
    print(f"its ELF files inflated once: {plain.cpu_s:.2f} s", end="")
    print(f", in {threads} threads {large[f'inflate {threads}'].wall_s:.2f} s wall")
    bars.at_least(f"{LARGE[0]}, CPU time", peer.cpu_s / ours.cpu_s, 40)
    bars.at_most(f"{LARGE[0]}, CPU time by that of inflating", ours.cpu_s / plain.cpu_s, 1.3)
    plain = large[f"inflate {threads}"]
    bars.at_most(f"{LARGE[0]}, wall time by that of inflating in {threads} threads", ours.wall_s / plain.wall_s, 1.3)
    bars.peak(LARGE[0], ours.peak_bytes, member)
    bars.end()


if __name__ == "__main__":
    main()
