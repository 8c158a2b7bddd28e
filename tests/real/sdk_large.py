"""Makes packages of the SDK with a file and a library of more than 4 GiB and 70,000 members, within a bound of memory.

What is large is sparse: reading it takes no disk. The wheels are then read by another program, and by `sdk verify`.
"""

import argparse
import os
import pathlib
import struct
import subprocess
import sys
import time
import zipfile

# What no command may take, in MiB.
MOST = 1024
LARGE = (4 << 30) + 1
LIBRARY = (4 << 30) + (64 << 20)
MANY = 70_000


def stage(folder, artifact):
    root = folder / artifact / "x/stage"
    root.mkdir(parents=True, exist_ok=True)
    (folder / artifact / "artifact_manifest.txt").write_text("x/stage\n")
    return root


def put(root, path, content=b"", size=None):
    place = root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content)
    if size is not None:
        os.truncate(place, size)


def artifacts(folder, library):
    base = folder / "base_lib_generic"
    manifest = base / "base/aux-overlay/stage/share/therock/therock_manifest.json"
    manifest.parent.mkdir(parents=True)
    manifest.write_text('{"rocm_version": "7.10.0", "flags": {"KPACK_SPLIT_ARTIFACTS": true}}')
    (base / "artifact_manifest.txt").write_text("base/aux-overlay/stage\n")
    put(stage(folder, "core-hip_lib_generic"), "lib/libamdhip64.so.7", library)
    libraries = stage(folder, "blas_lib_generic")
    # What follows the sections of a library is nothing to loaders.
    put(libraries, "lib/liblarge.so.1", library, LIBRARY)
    put(libraries, "lib/zeros.dat", size=LARGE)
    device = stage(folder, "blas_lib_gfx942")
    for number in range(MANY):
        put(device, f"lib/rocblas/library/{number % 100:02}/{number}.co", b"code")
    put(stage(folder, "rocprofiler-compute_run_generic"), "libexec/rocprofiler-compute/rocprof-compute", b"#!/bin/sh\n")


def run(rock, words, work):
    """What a command says; its time and memory are told."""
    started = time.monotonic()
    child = subprocess.Popen([rock, "sdk", *words], cwd=work, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    said = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    code, peak = os.waitstatus_to_exitcode(status), usage.ru_maxrss >> 10
    print(f"  - sdk {' '.join(words[:1])} exits with {code} after {time.monotonic() - started:.1f} s, {peak} MiB at its largest", flush=True)
    if code != 0 or peak > MOST:
        sys.exit(said)
    return said


def search_path(wheel, name):
    """The RPATH of a library as it stands in a wheel, by the first bytes of it and by what was appended."""
    with wheel.open(name) as member:
        head = member.read(64)
        [table] = struct.unpack_from("<Q", head, 32)
        entry, count = struct.unpack_from("<HH", head, 54)
        member.seek(table)
        headers = member.read(entry * count)
        segments = [struct.unpack_from("<IIQQQQQQ", headers, entry * at) for at in range(count)]
        loads = [segment for segment in segments if segment[0] == 1]
        offset = lambda address: next(at - start + address for _, _, at, start, _, size, _, _ in loads if start <= address < start + size)  # noqa: E731
        [(at, size)] = [(segment[2], segment[5]) for segment in segments if segment[0] == 2]
        member.seek(at)
        dynamic = dict(struct.iter_unpack("<QQ", member.read(size)))
        member.seek(offset(dynamic[5]) + dynamic[15])
        return member.read(400).split(b"\0")[0].decode()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rock", required=True, type=pathlib.Path)
    parser.add_argument("--library", required=True, type=pathlib.Path, help="a shared library named liblarge.so.1")
    parser.add_argument("--work", required=True, type=pathlib.Path)
    options = parser.parse_args()
    folder = options.work / "artifacts"
    artifacts(folder, options.library.read_bytes())
    rock = options.rock.resolve()
    words = ["build", "--artifact-dir", "artifacts", "--dest-dir", "sdk", "--version", "7.10.0", "--compression-level", "1"]
    wheels = [line for line in run(rock, words, options.work).splitlines() if line.endswith(".whl")]
    run(rock, ["verify", "sdk/dist"], options.work)
    assert len(wheels) == 5, wheels
    found = {}
    for path in wheels:
        # The end record of the archive is read here, ZIP64 and all; one small member of each is checked against its CRC.
        with zipfile.ZipFile(options.work / path) as wheel:
            found.update({member.filename: member for member in wheel.infolist()})
            wheel.read(f"{path.split('/')[-1].split('-py3')[0]}.dist-info/RECORD")
            if "rocm_sdk_libraries" in path:
                rpath = search_path(wheel, "_rocm_sdk_libraries/lib/liblarge.so.1")
            if "_device_" in path:
                assert len(wheel.infolist()) > MANY, len(wheel.infolist())
                assert wheel.read(f"_rocm_sdk_libraries/lib/rocblas/library/99/{MANY - 1}.co") == b"code"
    zeros, large = (found[f"_rocm_sdk_libraries/lib/{name}"] for name in ("zeros.dat", "liblarge.so.1"))
    assert zeros.file_size == LARGE and large.file_size > LIBRARY, (zeros, large)
    assert rpath.split(":")[1] == "$ORIGIN/../../_rocm_sdk_core/lib", rpath
    print(f"  - read by another program: {zeros.file_size} and {large.file_size} bytes, RPATH {rpath}", flush=True)


main()
