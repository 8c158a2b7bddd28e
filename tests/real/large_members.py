"""Runs the wheel commands on wheels with members of more than 4 GiB, within bounds of memory.

The members are zeros, and a library that ends with zeros, so that a wheel is a few megabytes: what is slow to make is
made of one block that is repeated. The wheels are kept between runs, since the digests take half a minute.
"""

import argparse
import base64
import hashlib
import os
import pathlib
import struct
import subprocess
import sys
import time
import zlib

from kept_answers import KeptAnswers

BLOCK = bytes(64 << 20)
# The sizes of what has more of them need ZIP64.
BLOCKS = 65
NAME = "large-1.0-cp311-cp311-linux_x86_64.whl"
# Memory limit of each command in MiB; the largest members have 4 GiB.
MOST = 700


def deflated(head, blocks):
    """The deflated form of bytes with blocks of zeros behind them, with their CRC, digest and size."""
    packer = zlib.compressobj(6, zlib.DEFLATED, -15)
    first = packer.compress(head) + packer.flush(zlib.Z_FULL_FLUSH)
    again = packer.compress(BLOCK) + packer.flush(zlib.Z_FULL_FLUSH)
    crc, digest = zlib.crc32(head), hashlib.sha256(head)
    for _ in range(blocks):
        crc = zlib.crc32(BLOCK, crc)
        digest.update(BLOCK)
    # A last, empty block (RFC 1951, 3.2.3).
    return first + again * blocks + b"\x03\x00", crc, digest.digest(), len(head) + len(BLOCK) * blocks


def write(path, members):
    """A zip archive; sizes of more than 32 bits stand in ZIP64 fields (APPNOTE 4.5.3)."""
    rows, central = [], b""
    with path.open("wb") as out:

        def add(name, data, crc, size, mode):
            nonlocal central
            start, full = out.tell(), size >= 0xFFFFFFFF
            said = 0xFFFFFFFF if full else size
            encoded = name.encode()
            # A local header has both sizes in its field, or none.
            packed = 0xFFFFFFFF if full else len(data)
            extra = struct.pack("<HHQQ", 1, 16, size, len(data)) if full else b""
            common = struct.pack("<HHHHHIII", 45, 0x800, 8, 0, 0x21, crc, packed, said)
            out.write(b"PK\3\4" + common + struct.pack("<HH", len(encoded), len(extra)) + encoded + extra + data)
            extra = struct.pack("<HHQ", 1, 8, size) if full else b""
            common = struct.pack("<HHHHHIII", 45, 0x800, 8, 0, 0x21, crc, len(data), said)
            central += b"PK\1\2" + struct.pack("<H", 3 << 8 | 45) + common
            central += struct.pack("<HHHHHII", len(encoded), len(extra), 0, 0, 0, (0o100000 | mode) << 16, start) + encoded + extra

        for name, (data, crc, digest, size), mode in members:
            add(name, data, crc, size, mode)
            rows.append(f"{name},sha256={base64.urlsafe_b64encode(digest).rstrip(b'=').decode()},{size}\n")
        record = "large-1.0.dist-info/RECORD"
        data, crc, _, size = deflated(("".join(rows) + f"{record},,\n").encode(), 0)
        add(record, data, crc, size, 0o644)
        start = out.tell()
        count = len(members) + 1
        out.write(central + b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, count, count, len(central), start, 0))


def make(folder, library):
    """Makes a wheel with a file and a library that are large, and one with each: commands that hash members take a minute for
    both."""
    info = "large-1.0.dist-info"
    wheel = b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: false\nTag: cp311-cp311-linux_x86_64\n"
    zeros = ("large/zeros.bin", deflated(b"", BLOCKS), 0o644)
    big = ("large/libbig.so", deflated(library, BLOCKS), 0o755)
    for name, large in [("both", [zeros, big]), ("file", [zeros]), ("library", [big])]:
        members = [
            ("large/__init__.py", deflated(b"", 0), 0o644),
            *large,
            ("large/_last.so", deflated(library, 0), 0o755),
            (f"{info}/METADATA", deflated(b"Metadata-Version: 2.1\nName: large\nVersion: 1.0\n", 0), 0o644),
            (f"{info}/WHEEL", deflated(wheel, 0), 0o644),
        ]
        path = folder / name / NAME
        path.parent.mkdir()
        write(path, members)
        unpacked = sum(content[3] for _, content, _ in members)
        print(f"  - made: {path.stat().st_size >> 20} MiB that unpack to {unpacked >> 20} MiB", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rock", required=True, type=pathlib.Path)
    parser.add_argument("--library", required=True, type=pathlib.Path, help="a shared library that zeros may follow")
    parser.add_argument("--work", required=True, type=pathlib.Path)
    parser.add_argument("--kept", required=True, type=pathlib.Path, help="where the wheels are kept between runs")
    options = parser.parse_args()
    library = options.library.read_bytes()
    kept, question = KeptAnswers(options.kept, []), [library, pathlib.Path(__file__).read_bytes()]
    if not kept.copy_to(options.work, *question):
        make(options.work, library)
        kept.keep_directory(options.work, ["both", "file", "library"], *question)
    out = options.work / "out"
    runs = [
        ["show", f"both/{NAME}", "--no-host-libs"],
        ["gfx", f"both/{NAME}"],
        ["check", f"library/{NAME}", "--no-host-libs"],
        ["verify", f"file/{NAME}"],
        ["repair", f"library/{NAME}", "--no-host-libs", "-w", out],
        ["label", f"both/{NAME}", "--local", "rocm62", "-w", out],
    ]
    failed = False
    for arguments in runs:
        started = time.monotonic()
        child = subprocess.Popen([options.rock.resolve(), "wheel", *arguments], cwd=options.work, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        said = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        code, peak = os.waitstatus_to_exitcode(status), usage.ru_maxrss >> 10
        print(f"  - {arguments[0]:<7} exits with {code} after {time.monotonic() - started:.1f} s, {peak} MiB at its largest", flush=True)
        if code != 0 or peak > MOST:
            print(said, flush=True)
            failed = True
    made = sorted(one.name for one in out.glob("*.whl"))
    expected = ["large-1.0+rocm62-cp311-cp311-linux_x86_64.whl", "large-1.0-cp311-cp311-manylinux1_x86_64.manylinux_2_5_x86_64.whl"]
    if made != expected:
        print(f"made: {made}")
        failed = True
    for name in made:
        listed = subprocess.run([sys.executable, "-m", "zipfile", "-l", out / name], capture_output=True, text=True, check=True).stdout
        # The library's size is that of the zeros and its own.
        sizes = [int(line.split()[-1]) for line in listed.splitlines()[1:]]
        if max(sizes) < BLOCKS * len(BLOCK):
            print(f"{name}: another reader finds no member of more than 4 GiB:\n{listed}")
            failed = True
    sys.exit(1 if failed else 0)


main()
