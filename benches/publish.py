#!/usr/bin/env python3
"""Publishing beside curl and beside an empty program, to a GitHub on loopback, in one run.

    cargo build --profile dist --bins
    python3 benches/publish.py [--binary target/dist/rock-matrix] [--rounds 5]

Prints and checks:
  the upload of a file of 1.5 GB, digest included, beside `curl -T` of the same file to the same server together with
  `sha256sum` of it, both at once; what the calls around it take is taken off by a run with a source distribution
  that holds one byte;
  the peak memory of that upload above the run with one byte;
  a second run of a finished publish of 256 wheels, whose digests a manifest tells, beside an empty static program, and
  how many requests it makes.
The file is made once in the cache folder (ROCK_CACHE_DIR). Exits with 1 when a bar is missed.
"""

import argparse
import base64
import contextlib
import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.request
import zipfile

from matrices import empty_program
from wheels import CACHE, HERE, Bars, in_turns, run

LARGE_BYTES = 1_500_000_000
GROWTH_BAR_BYTES = 32 << 20
WHEELS = 256
ENVIRONMENT = {"GITHUB_TOKEN": "writer"}
# What every request to the API has.
HEADERS = {
    "Authorization": "Bearer writer",
    "User-Agent": "bench",
    "Accept": "application/vnd.github+json",
    "X-GitHub-Api-Version": "2022-11-28",
}


@contextlib.contextmanager
def server(binary, *more):
    """A GitHub; gives its address and, at its end, puts what it says of its requests into the dictionary."""
    argv = [binary.parent / "fake-github", "--quiet", *more]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        told = {"url": process.stdout.readline().strip()}
        try:
            yield told
        finally:
            process.send_signal(signal.SIGINT)
            said = process.stderr.read()
            found = re.search(r"(\d+) requests, (\d+) of them writes", said)
            told["requests"], told["writes"] = map(int, found.groups())
            if "complaint" in said:
                sys.exit(said)


def publish(binary, url, tag, folder, *more):
    argv = [binary, "publish", "--quiet", "--repo", "me/wheels", "--tag", tag, "--target", "main", "--api-url", url]
    return run([*argv, "--dist", folder, *more], ENVIRONMENT)


def large_file():
    """A source distribution with bytes that nothing compresses, made once."""
    folder = CACHE / "publish"
    path = folder / "large-1.tar.gz"
    if not path.exists() or path.stat().st_size < LARGE_BYTES:
        folder.mkdir(parents=True, exist_ok=True)
        source_distribution(folder / "part", LARGE_BYTES)
        (folder / "part").rename(path)
    return path


def source_distribution(path, size):
    """A source distribution with a file of this size that nothing compresses."""
    info = b"Metadata-Version: 2.1\nName: large\nVersion: 1\n"
    with open("/dev/urandom", "rb") as random, tarfile.open(path, "w:gz", compresslevel=0) as archive:
        for name, length, content in [("PKG-INFO", len(info), io.BytesIO(info)), ("setup.py", 0, None), ("data", size, random)]:
            member = tarfile.TarInfo(f"large-1/{name}")
            member.size = length
            archive.addfile(member, content)


def draft(url, tag):
    """Where files are sent to."""
    body = json.dumps({"tag_name": tag, "draft": True}).encode()
    asked = urllib.request.Request(f"{url}/repos/me/wheels/releases", body, HEADERS)
    with urllib.request.urlopen(asked) as answer:
        return json.load(answer)["upload_url"].split("{")[0]


def curl_beside_sha256sum(url, path, tag):
    """Seconds of the pair, begun at once."""
    to = f"{draft(url, tag)}?name={path.name}"
    argv = ["curl", "--fail", "--silent", "--show-error", "--output", "/dev/null", "--request", "POST"]
    headers = [f"{name}: {value}" for name, value in HEADERS.items()] + ["Content-Type: application/octet-stream", "Expect:"]
    argv += [word for header in headers for word in ("--header", header)]
    begin = time.perf_counter()
    with subprocess.Popen([*argv, "--upload-file", path, to]) as curl:
        subprocess.run(["sha256sum", path], check=True, stdout=subprocess.DEVNULL)
    if curl.returncode:
        sys.exit(f"curl ended with {curl.returncode}")
    return time.perf_counter() - begin


def upload(binary, rounds, folder, bars):
    path = large_file()
    idle, large = folder / "idle", folder / "large"
    idle.mkdir(), large.mkdir()
    source_distribution(idle / path.name, 1)
    (large / path.name).symlink_to(path)
    subprocess.run(["cat", path], check=True, stdout=subprocess.DEVNULL)
    ours, peers, growth = [], [], []
    with server(binary) as told:
        url = told["url"]
        for number in range(rounds):
            if number % 2:
                peers.append(curl_beside_sha256sum(url, path, f"c{number}"))
            base = publish(binary, url, f"i{number}", idle)
            whole = publish(binary, url, f"l{number}", large)
            ours.append(whole.wall_s - base.wall_s)
            growth.append(whole.peak_bytes - base.peak_bytes)
            if not number % 2:
                peers.append(curl_beside_sha256sum(url, path, f"c{number}"))
    mine, theirs = statistics.median(ours), statistics.median(peers)
    print(f"1.5 GB: {mine:.2f} s, curl beside sha256sum {theirs:.2f} s; at its peak {max(growth) / 2**20:.1f} MiB more than with 1 byte")
    bars.at_least_part("throughput of an upload of 1.5 GB beside curl -T and sha256sum", theirs / mine, 0.8)
    bars.below_mib("memory of an upload of 1.5 GB above that of 1 byte", max(growth), GROWTH_BAR_BYTES)


def wheel(folder, number):
    """A whole small wheel."""
    python = f"cp3{9 + number % 6}"
    label = f"rocm6.{number // 6 % 5}torch2.{number // 30}"
    info = f"bench-1.0+{label}.dist-info"
    files = {
        "bench/__init__.py": f"NUMBER = {number}\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: bench\nVersion: 1.0+{label}\n",
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: bench\nRoot-Is-Purelib: false\nTag: {python}-{python}-linux_x86_64\n",
    }
    rows = []
    for name, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        rows.append(f"{name},sha256={digest},{len(text)}\n")
    files[f"{info}/RECORD"] = "".join(rows) + f"{info}/RECORD,,\n"
    path = folder / f"bench-1.0+{label}-{python}-{python}-linux_x86_64.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)


def fetch_manifest(url, folder):
    """What the release says of its files, beside them."""
    address = f"{url}/me/wheels/releases/download/v1/rock-manifest.json"
    with urllib.request.urlopen(urllib.request.Request(address, headers={"User-Agent": "bench"})) as answer:
        (folder / "rock-manifest.json").write_bytes(answer.read())


def again(binary, rounds, folder, bars):
    dist, state = folder / "dist", folder / "state"
    dist.mkdir()
    for number in range(WHEELS):
        wheel(dist, number)
    if len(list(dist.iterdir())) != WHEELS:
        sys.exit("two wheels have one name")
    with server(binary, "--state", state) as told:
        publish(binary, told["url"], "v1", dist)
        fetch_manifest(told["url"], dist)
    with server(binary, "--state", state) as told:
        publish(binary, told["url"], "v1", dist)
    bars.is_at_most("requests of a second run", told["requests"], 5)
    bars.is_at_most("writes of a second run", told["writes"], 0)
    empty = empty_program(folder)
    with server(binary, "--state", state) as told:
        sides = {
            "ours": (lambda: publish(binary, told["url"], "v1", dist), 1),
            "empty": (lambda: run([empty]), 1),
        }
        found = in_turns(sides, rounds)
    ours, theirs = found["ours"], found["empty"]
    print(f"second run of {WHEELS} wheels: {ours.wall_s * 1e3:.2f} ms, empty static program {theirs.wall_s * 1e3:.2f} ms")
    bars.at_most("second run of 256 wheels beside an empty static program", ours.wall_s / theirs.wall_s, 20)


class PublishBars(Bars):
    """Bars of other units."""

    def at_least_part(self, what, ratio, bar):
        self._say(what, f"{ratio:.2f} of it (bar: at least {bar})", ratio >= bar)

    def below_mib(self, what, size_bytes, bar_bytes):
        self._say(what, f"{size_bytes / 2**20:.1f} MiB (bar: below {bar_bytes >> 20})", size_bytes < bar_bytes)

    def is_at_most(self, what, count, bar):
        self._say(what, f"{count} (bar: at most {bar})", count <= bar)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=HERE.parent / "target/dist/rock-matrix", type=pathlib.Path)
    parser.add_argument("--rounds", default=5, type=int)
    options = parser.parse_args()
    binary = options.binary.resolve()
    for needed in (binary, binary.parent / "fake-github"):
        if not needed.exists():
            sys.exit(f"{needed} is missing: cargo build --profile dist --bins")
    if not shutil.which("curl"):
        sys.exit("curl is missing: apt-get install curl")
    bars = PublishBars()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        again(binary, 4 * options.rounds + 1, folder, bars)
        upload(binary, options.rounds, folder, bars)
    bars.end()


main()
