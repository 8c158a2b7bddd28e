#!/usr/bin/env python3
"""Package indexes beside Python, in one run.

    python3 benches/index.py [--binary target/dist/rock-matrix] [--rounds 15] [--dir DIR]

Prints, each the median over rounds that alternate the two sides:
  the index of 3,000 published wheels from the manifests of 12 releases beside Python writing the same pages;
  the same when nothing changed, beside Python doing it all again;
  the index of 1,000 real small wheels whose digests are known beside reading them all.

The pages must be the same bytes on both sides, except for the landing page, which is a page for people. Both write to
memory (DIR, else /dev/shm), where a sync costs nothing: we sync what we write and Python does not. `--dir` on a disk
shows what that costs.
"""

import argparse
import base64
import hashlib
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile

from wheels import HERE, tools

BAR = 12
PAIRS = [(rocm, torch) for rocm in ("6.2", "6.4", "7.0", "7.2", "7.14") for torch in ("2.6", "2.7", "2.8", "2.9", "2.10")]
PYTHONS = ["310", "311", "312", "313"]
PROJECTS = ["flash_attn", "xformers", "vllm"]


def rows(tag):
    """The 250 rows of a release, in the order of the index."""
    for rocm, torch in PAIRS:
        for number, project in enumerate(PROJECTS):
            for python in PYTHONS if number < 2 else PYTHONS[:2]:
                label = f"rocm{rocm}torch{torch}"
                name = f"{project}-2.{tag}.0+{label}-cp{python}-cp{python}-manylinux_2_28_x86_64.whl"
                yield {
                    "name": name, "sha256": hashlib.sha256(name.encode()).hexdigest(), "size_bytes": 1000 + len(name),
                    "distribution": project.replace("_", "-"), "version": f"2.{tag}.0", "label": label,
                    "accelerator": {"name": "rocm", "version": rocm}, "torch": torch, "git": None, "backend": None,
                    "build": None, "python": [f"cp{python}"], "abi": [f"cp{python}"],
                    "platform": ["manylinux_2_28_x86_64"], "covers": [f"3.{python[1:]}"], "requires_python": ">=3.9,<4",
                    "metadata_sha256": hashlib.sha256(label.encode()).hexdigest(), "index": f"rocm{rocm}-torch{torch}",
                }


def releases(folder):
    count = 0
    for tag in range(10, 22):
        files = list(rows(tag))
        count += len(files)
        place = folder / f"v2.{tag}"
        place.mkdir(parents=True)
        manifest = {"version": 1, "tag": place.name, "plan": None, "files": files}
        (place / "rock-manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")
    return count


def small_wheels(folder):
    folder.mkdir()
    for number in range(1000):
        rocm, torch = PAIRS[number % len(PAIRS)]
        stem = f"bench-1.{number}+rocm{rocm}torch{torch}"
        with zipfile.ZipFile(folder / f"{stem}-py3-none-any.whl", "w") as wheel:
            info = f"{stem}.dist-info"
            wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: bench\nVersion: {stem[6:]}\nRequires-Python: >=3.9\n")
            wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            wheel.writestr("bench.bin", number.to_bytes(4, "little") * (1 << 16))
            names = [*wheel.namelist(), f"{info}/RECORD"]
            wheel.writestr(f"{info}/RECORD", "".join(row(wheel, name) for name in names))


def row(wheel, name):
    if name not in wheel.namelist():
        return f"{name},,\n"
    content = wheel.read(name)
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}\n"


def seconds(argv, folder):
    """Seconds of one run in this directory: in this repository, the program would read its tables, not the shipped ones."""
    begin = time.perf_counter()
    subprocess.run(argv, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True)
    return time.perf_counter() - begin


def pages(site):
    return {str(path.relative_to(site)): path.read_bytes() for path in sorted(site.rglob("index.*"))}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=HERE.parent / "target/dist/rock-matrix", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--dir", default="/dev/shm" if pathlib.Path("/dev/shm").is_dir() else None)
    options = parser.parse_args()
    binary = str(options.binary.resolve())
    with tempfile.TemporaryDirectory(dir=options.dir) as temporary:
        folder = pathlib.Path(temporary)
        count = releases(folder / "releases")
        (ours, theirs) = (folder / "ours", folder / "theirs")
        build = [binary, "index", "build", "--published", str(folder / "releases"), "--out", str(ours)]
        peer = [str(tools() / "python3"), "-I", str(HERE / "simple_index.py"), str(folder / "releases"), str(theirs)]
        both = {"first": [], "again": [], "python": []}
        for _ in range(options.rounds):
            shutil.rmtree(ours, ignore_errors=True)
            shutil.rmtree(theirs, ignore_errors=True)
            both["first"].append(seconds(build, folder))
            both["python"].append(seconds(peer, folder))
            both["again"].append(seconds(build, folder))
        left, right = pages(ours), pages(theirs)
        del left["index.html"], right["index.html"]
        if left != right:
            sys.exit(f"the two sides write different pages: {sorted(n for n in left.keys() | right.keys() if left.get(n) != right.get(n))[:3]}")
        first, again, python = (statistics.median(both[side]) for side in ("first", "again", "python"))
        size = sum(map(len, left.values()))
        print(f"index of {count} wheels from manifests, the same {len(left)} pages of {size} bytes: {first * 1e3:.1f} ms, python3 {python * 1e3:.1f} ms: {python / first:.1f} times faster (bar: {BAR})")
        print(f"the same when nothing changed: {again * 1e3:.1f} ms: {python / again:.1f} times faster")

        small_wheels(folder / "wheels")
        release = folder / "release"
        publish = [binary, "publish", "--to", str(release), str(folder / "wheels")]
        subprocess.run(publish, check=True, stdout=subprocess.DEVNULL)
        wheels = [binary, "index", "build", str(release)]
        read = statistics.median(seconds([*wheels, "--read-all"], folder) for _ in range(5))
        known = statistics.median(seconds(wheels, folder) for _ in range(5))
        print(f"index of 1000 wheels of 256 kB made again: {known * 1e3:.0f} ms with known digests, {read * 1e3:.0f} ms reading them: {read / known:.1f} times faster")
    sys.exit(0 if python / first >= BAR else 1)


if __name__ == "__main__":
    main()
