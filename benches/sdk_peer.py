#!/usr/bin/env python3
"""The peer of benches/sdk.py: the packages of the ROCm SDK, made in the steps that ROCm's own script makes them in.

    python3 -I benches/sdk_peer.py ARTIFACTS DEST PATCHELF [--no-wheel-compression]

One package after the other, on one thread: the artifacts are walked once for each package; files are copied to a staging
folder; patchelf is started for the SONAME of a library, once for each folder that it is to search, once to print its
path and once to set it; a compiler is started for each link to a program; the staging folder is copied to the build
folder of setuptools and from there to that of the wheel, which is hashed and zipped at level 6; the tree to build
against becomes a tar, which is copied twice as well. That is what was measured of the script, and no more: where it asks
libmagic for the type of each file, this reads the head of the file; where it starts setuptools for each package, this
does its copies alone; where it may ask for the SONAME of one library under each of its names, this asks once.

Leaves a JSON object in DEST/steps.json: the seconds of each kind of step, and how many processes were started.
"""

import argparse
import base64
import csv
import gzip
import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import tarfile
import time
import zipfile

VERSION = "7.14.0"
CORE = (
    "amd-dbgapi amd-llvm aqlprofile base core-amdsmi core-hip core-kpack core-ocl core-runtime hipfile hipify host-blas "
    "host-suite-sparse rocdecode rocgdb rocjpeg rocprofiler-sdk rocr-debug-agent sysdeps"
).split()
LIBRARIES = "blas fft hipdnn miopen miopenprovider hipblasltprovider hipkernelprovider rand rccl rpp".split()
PROFILERS = ["rocprofiler-compute", "rocprofiler-systems"]
DEVEL = "prim rocwmma flatbuffers nlohmann-json rocjitsu mirage libhipcxx rocshmem hipthreads".split()
# Where each kind of package searches beside itself, in the core package.
SEARCH = {
    "core": ["lib/llvm/lib", "lib/rocm_sysdeps/lib"],
    "profiler": ["lib", "lib/llvm/lib", "lib/rocm_sysdeps/lib"],
    "libraries": ["lib", "lib/rocm_sysdeps/lib", "lib/host-math/lib", "lib/llvm/lib"],
    "device": ["lib", "lib/rocm_sysdeps/lib"],
}
OF_CORE = [
    "**/cmake/**",
    "bin/rocprof-*",
    "include/rocprofiler-systems/**",
    "lib/librocprof-sys*",
    "libexec/rocprofiler-systems/**",
    "share/**/rocprofiler-systems/**",
]
OF_PROFILER = ["bin/rocprof-*", "lib/librocprof-sys*", "libexec/rocprofiler-*/**", "share/**/rocprofiler-*/**"]
STUB = r"""
#define _GNU_SOURCE
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv) {
  char own[PATH_MAX], whole[PATH_MAX], *slash;
  ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
  if (length < 0) return 1;
  own[length] = 0;
  slash = strrchr(own, '/');
  strcpy(slash + 1, TARGET);
  execv(realpath(own, whole) ? whole : own, argv);
  perror(own);
  return 1;
}
"""

spent, started = {}, {}


class Step:
    """Adds the time of what is done within it to its kind of step."""

    def __init__(self, name):
        self.name = name

    def __enter__(self):
        self.begin = time.perf_counter()

    def __exit__(self, *_):
        spent[self.name] = spent.get(self.name, 0) + time.perf_counter() - self.begin


def said_by(*argv):
    name = pathlib.Path(argv[0]).name
    started[name] = started.get(name, 0) + 1
    with Step(name):
        return subprocess.run(argv, check=True, capture_output=True, text=True).stdout.strip()


# --- the artifacts


def artifacts(folder):
    """Name, component, target and folders of each."""
    found = []
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        manifest = pathlib.Path(entry.path, "artifact_manifest.txt")
        if entry.name.count("_") == 2 and manifest.exists():
            bases = [os.path.join(entry.path, line) for line in manifest.read_text().split() if line]
            found.append((*entry.name.split("_"), bases))
    return found


def compiled(globs):
    words = []
    for glob in globs:
        text = re.escape(glob).replace(r"\*\*/", "(?:.*/)?").replace(r"/\*\*", "(?:/.*)?")
        words.append(text.replace(r"\*", "[^/]*"))
    return re.compile("|".join(words))


def scanned(found, is_wanted, includes=(), excludes=()):
    """Paths below the folders of these artifacts, with what they are."""
    include, exclude = compiled(includes), compiled(excludes)
    entries = {}

    def walk(base, below):
        for entry in os.scandir(os.path.join(base, below)):
            relpath = f"{below}/{entry.name}" if below else entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            if (not includes or include.fullmatch(relpath)) and not (excludes and exclude.fullmatch(relpath)):
                entries.setdefault(relpath, (entry.path, is_folder, entry.is_symlink()))
            if is_folder:
                walk(base, relpath)

    with Step("walk"):
        for name, component, target, bases in found:
            if is_wanted(name, component, target):
                for base in bases:
                    if os.path.isdir(base):
                        walk(base, "")
    return dict(sorted(entries.items()))


def kind_of(path):
    """`library`, `program` or `data`, by suffix or else by the head of the file."""
    with Step("type"):
        if path.endswith((".txt", ".h", ".hpp", ".co", ".hsaco")):
            return "data"
        with open(path, "rb") as file:
            head = file.read(4096)
        if len(head) < 64 or head[:6] != b"\x7fELF\x02\x01":
            return "data"
        kind, machine = struct.unpack_from("<HH", head, 16)
        offset, size, count = struct.unpack_from("<Q", head, 32) + struct.unpack_from("<HH", head, 54)
        if machine not in (62, 183) or kind not in (2, 3):
            return "data"
        segments = {struct.unpack_from("<I", head, offset + size * number)[0] for number in range(count)}
        if 2 not in segments:
            return "data"
        return "program" if kind == 2 or 3 in segments else "library"


# --- packages


class Packages:
    def __init__(self, options):
        self.options = options
        self.found = artifacts(options.artifacts)
        self.owner, self.alias = {}, {}
        self.sonames = {}

    def copied(self, source, target):
        with Step("copy to staging"):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy2(source, target)
            os.chmod(target, os.stat(target).st_mode | 0o200)

    def soname(self, path):
        if path not in self.sonames:
            self.sonames[path] = said_by(self.options.patchelf, "--print-soname", path)
        return self.sonames[path]

    def search(self, kind, path, relpath):
        up = "../" * (relpath.count("/") + 1)
        for folder in SEARCH[kind]:
            said_by(self.options.patchelf, "--add-rpath", f"$ORIGIN/{up}_rocm_sdk_core/{folder}", path)
        self.force(path)

    def force(self, path):
        """Makes what it searches an RPATH."""
        said = said_by(self.options.patchelf, "--print-rpath", path)
        if said:
            said_by(self.options.patchelf, "--force-rpath", "--set-rpath", said, path)

    def stub(self, text, target):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        source = self.options.dest / "stub.c"
        source.write_text(f'#define TARGET "{text}"\n{STUB}')
        said_by("cc", "-fPIE", "-pie", "-O2", "-o", target, source, "-ldl")

    def runtime(self, kind, distribution, folder, entries):
        staging = self.options.dest / "staging" / distribution
        root = staging / folder
        root.mkdir(parents=True)
        (root / "__init__.py").touch()
        for relpath, (path, is_folder, is_link) in entries.items():
            target = os.path.join(root, relpath)
            if is_folder:
                os.makedirs(target, exist_ok=True)
                continue
            source = os.path.realpath(path) if is_link else path
            if not os.path.isfile(source):
                continue
            shape = kind_of(source)
            if kind != "device":
                if shape == "library":
                    soname = self.soname(source)
                    if soname and soname != os.path.basename(relpath):
                        self.alias[relpath] = soname
                        continue
                elif shape == "program" and is_link:
                    self.stub(os.readlink(path), target)
                    self.owner[relpath] = folder
                    continue
            self.copied(source, target)
            if shape != "data":
                self.search(kind, target, relpath)
            if kind != "device":
                self.owner[relpath] = folder
            if kind == "profiler" and re.fullmatch(r"lib/librocprof-sys[^/]*\.so\.[^/]*", relpath):
                # What is opened without its number; the copies to the build folder make files of them.
                os.symlink(os.path.basename(relpath), target.rpartition(".")[0])
        self.pure(staging / distribution.replace("-", "_"))
        self.wheel(distribution, staging)

    def pure(self, folder):
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text(f'__version__ = "{VERSION}"\n')
        (folder / "_dist_info.py").write_text(f'__version__ = "{VERSION}"\n')

    def wheel(self, distribution, staging):
        build = self.options.dest / "build" / distribution / "lib"
        temp = build.with_name("wheel")
        with Step("copy to build"):
            shutil.copytree(staging, build)
        with Step("copy to wheel"):
            shutil.copytree(build, temp)
        stem = f"{distribution.replace('-', '_').lower()}-{VERSION}"
        info = temp / f"{stem}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {distribution}\nVersion: {VERSION}\n")
        (info / "WHEEL").write_text("Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-linux_x86_64\n")
        method = zipfile.ZIP_DEFLATED if self.options.wheel_compression else zipfile.ZIP_STORED
        path = self.options.dest / "dist" / f"{stem}-py3-none-linux_x86_64.whl"
        path.parent.mkdir(exist_ok=True)
        rows = []
        with Step("zip"), zipfile.ZipFile(path, "w", method, compresslevel=6) as archive:
            for folder, folders, files in os.walk(temp):
                folders.sort()
                for name in sorted(files):
                    self.member(archive, method, os.path.join(folder, name), temp, rows)
            record = f"{info.name}/RECORD"
            text = io.StringIO()
            csv.writer(text, lineterminator="\n").writerows([*rows, (record, "", "")])
            archive.writestr(record, text.getvalue())
        with Step("remove"):
            shutil.rmtree(temp)

    def member(self, archive, method, path, root, rows):
        name = os.path.relpath(path, root)
        header = zipfile.ZipInfo.from_file(path, name, strict_timestamps=False)
        header.compress_type = method
        digest = hashlib.sha256()
        with open(path, "rb") as file, archive.open(header, "w") as member:
            while piece := file.read(1 << 20):
                digest.update(piece)
                member.write(piece)
        text = base64.urlsafe_b64encode(digest.digest()).rstrip(b"=").decode()
        rows.append((name, f"sha256={text}", header.file_size))

    # --- each of them

    def core(self):
        def is_wanted(name, component, target):
            return (
                name in CORE and component in ("lib", "run") or name in ("core-hip", "core-ocl") and component == "dev"
            )

        self.runtime("core", "rocm-sdk-core", "_rocm_sdk_core", scanned(self.found, is_wanted, excludes=OF_CORE))

    def profiler(self):
        entries = scanned(self.found, lambda name, part, _: name in PROFILERS and part in ("lib", "run"), OF_PROFILER)
        self.runtime("profiler", "rocm-profiler", "_rocm_profiler", entries)

    def libraries(self):
        entries = scanned(self.found, lambda name, part, to: name in LIBRARIES and part == "lib" and to == "generic")
        self.runtime("libraries", "rocm-sdk-libraries", "_rocm_sdk_libraries", entries)

    def devices(self):
        for target in sorted({target for *_, target, _ in self.found if target != "generic"}):
            entries = scanned(self.found, lambda name, part, to: name in LIBRARIES and part == "lib" and to == target)
            self.runtime("device", f"rocm-sdk-device-{target}", "_rocm_sdk_libraries", entries)

    def project(self):
        path = self.options.dest / "dist" / f"rocm-{VERSION}.tar.gz"
        text = f"Metadata-Version: 2.4\nName: rocm\nVersion: {VERSION}\n".encode()
        with gzip.open(path, "wb") as file, tarfile.open(fileobj=file, mode="w") as tar:
            member = tarfile.TarInfo(f"rocm-{VERSION}/PKG-INFO")
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text))

    def devel(self):
        names = {*CORE, *LIBRARIES, *DEVEL}
        entries = scanned(self.found, lambda name, part, to: name in names and part != "test" and to == "generic")
        root = self.options.dest / "staging" / "devel" / "_rocm_sdk_devel"
        root.mkdir(parents=True)
        (root / "__init__.py").touch()
        for relpath, (path, is_folder, is_link) in entries.items():
            target = os.path.join(root, relpath)
            if is_folder:
                os.makedirs(target, exist_ok=True)
                continue
            os.makedirs(os.path.dirname(target), exist_ok=True)
            if relpath in self.alias:
                os.symlink(self.alias[relpath], target)
            elif relpath in self.owner:
                os.symlink(f"{'../' * (relpath.count('/') + 1)}{self.owner[relpath]}/{relpath}", target)
            elif is_link:
                os.symlink(os.readlink(path), target)
            else:
                self.copied(path, target)
                if kind_of(target) != "data":
                    self.force(target)
        staging = self.options.dest / "staging" / "rocm-sdk-devel"
        self.pure(staging / "rocm_sdk_devel")
        with Step("tar"), tarfile.open(staging / "rocm_sdk_devel" / "_devel.tar", "w") as tar:
            for folder, folders, files in os.walk(root):
                links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
                folders[:] = sorted(set(folders) - set(links))
                for name in sorted([*files, *links]) + folders:
                    path = os.path.join(folder, name)
                    tar.add(path, os.path.relpath(path, root.parent), recursive=False)
        self.wheel("rocm-sdk-devel", staging)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("artifacts", type=pathlib.Path)
    parser.add_argument("dest", type=pathlib.Path)
    parser.add_argument("patchelf", type=pathlib.Path)
    parser.add_argument("--no-wheel-compression", dest="wheel_compression", action="store_false")
    options = parser.parse_args()
    options.dest.mkdir(parents=True, exist_ok=True)
    packages = Packages(options)
    for make in ("core", "profiler", "libraries", "devices", "project", "devel"):
        getattr(packages, make)()
    steps = {name: round(seconds, 2) for name, seconds in sorted(spent.items(), key=lambda item: -item[1])}
    (options.dest / "steps.json").write_text(json.dumps({"seconds": steps, "started": started}))


if __name__ == "__main__":
    main()
