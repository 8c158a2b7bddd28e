"""Small real packages of the SDK: the sources under `templates/sdk` around a tree whose libraries and programs run.

What is written here follows the same contract as the program's own packages: names, RECORD, the order of the tarball,
the manifests of device packages, and the text that is appended to `_dist_info.py`.
"""

from __future__ import annotations

import base64
import csv
import functools
import hashlib
import io
import json
import subprocess
import tarfile
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, Iterable, Iterator, List, Optional, Tuple

import yaml

REPOSITORY = Path(__file__).resolve().parents[3]
TEMPLATES = REPOSITORY / "templates" / "sdk"
VERSION = "7.14.0.dev0"
# The SONAME that the compiled library has until a file of the stand-in tree gets its own.
ANY_SONAME = "lib-with-a-soname-that-leaves-room-for-every-other.so"
PLATFORM = "linux_x86_64"
# Each module, and the short name of the package that it is in.
MODULES = {
    "rocm_sdk": "meta",
    "rocm_sdk_core": "core",
    "rocm_sdk_libraries": "libraries",
    "rocm_sdk_devel": "devel",
    "rocm_profiler": "profiler",
}


@dataclass(frozen=True)
class File:
    data: bytes
    mode: int = 0o644


@dataclass(frozen=True)
class Link:
    text: str


@dataclass(frozen=True)
class Folder:
    """An empty one."""


Tree = Dict[str, Any]


@dataclass
class Build:
    """The values of one build."""

    version: str = VERSION
    available: List[str] = field(default_factory=lambda: ["gfx1100", "gfx942"])
    default: str = "gfx1100"
    linux: List[str] = field(default_factory=list)
    windows: List[str] = field(default_factory=list)
    is_kpack: bool = True


@functools.lru_cache(maxsize=None)
def facts(table: str) -> List[Dict[str, Any]]:
    text = (REPOSITORY / f"matrices/compat/{table}.yaml").read_text("utf-8")
    rows: List[Dict[str, Any]] = yaml.safe_load(text)[table]
    return rows


def libraries(package: Optional[str] = None) -> Dict[str, Dict[str, str]]:
    """The rows of the library table as they stand in `_dist_info.py`."""
    columns = ("package", "dir", "so", "dll")
    rows = {row["library"]: {name: row[name] for name in columns if name in row} for row in facts("sdk-libraries")}
    return {name: row for name, row in rows.items() if package in (None, row["package"])}


def optional_libraries() -> List[str]:
    return [row["library"] for row in facts("sdk-libraries") if row.get("may-be-absent")]


def scripts(package: str) -> List[Dict[str, Any]]:
    return [row for row in facts("sdk-scripts") if row["package"] == package and "linux" in row["platforms"]]


def appended(build: Build, package: str, family: str = "") -> str:
    """What the build appends to `_dist_info.py`. All values are texts, or lists and maps of them."""
    values: Dict[str, Any] = {
        "__version__": build.version,
        "PY_PACKAGE_SUFFIX_NONCE": "",
        "THIS_PACKAGE_ENTRY": package,
        "THIS_TARGET_FAMILY": family,
        "DEFAULT_TARGET_FAMILY": build.default,
        "AVAILABLE_TARGET_FAMILIES": build.available,
        "LINUX_TARGET_FAMILIES": build.linux,
        "WINDOWS_TARGET_FAMILIES": build.windows,
    }
    if build.is_kpack:
        values["LIBRARIES_DIST_TEMPLATE"] = "rocm-sdk-libraries"
    if package == "meta":
        values.update(LIBRARIES=libraries(), OPTIONAL_LIBRARIES=optional_libraries())
    if package in ("core", "profiler"):
        rows = scripts(package)
        values["SCRIPTS"] = {row["function"]: row["program"] for row in rows}
        values["EXPANDING_SCRIPTS"] = [row["function"] for row in rows if row.get("expands")]
    return "\n# Of this build.\n" + "".join(f"{name} = {value!a}\n" for name, value in values.items())


def dist_info(build: Build, package: str, family: str = "") -> bytes:
    """The module that differs between builds."""
    static = (TEMPLATES / "shared" / "_dist_info.py").read_text("utf-8")
    return (static + appended(build, package, family)).encode()


@functools.lru_cache(maxsize=None)
def template(folder: str) -> Tree:
    root = TEMPLATES / folder
    files = sorted(path for path in root.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(root).as_posix(): File(path.read_bytes()) for path in files}


def python_of(folder: str, build: Build, package: str, name: str = "", family: str = "") -> Tree:
    """The modules of a package: those of its folder, and the shared ones."""
    tree = below(name or folder, template(folder))
    tree[f"{name or folder}/_dist_info.py"] = File(dist_info(build, package, family))
    if package in ("core", "profiler"):
        tree[f"{name or folder}/_trampoline.py"] = File((TEMPLATES / "shared" / "_trampoline.py").read_bytes())
    return tree


def below(root: str, tree: Tree) -> Tree:
    return {f"{root}/{name}": entry for name, entry in tree.items()}


def written(folder: Path, tree: Tree) -> None:
    """Writes the files of a tree below a folder."""
    for name, entry in tree.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(entry.data)


def compiled(work: Path) -> "Stand":
    """Compiles the one library and the one program that everything here is a copy of, but for the SONAMEs.

    Compiles nothing where the directory has both.
    """
    library, program = work / "library.so", work / "program"
    if library.exists() and program.exists():
        return Stand(library.read_bytes(), program.read_bytes())
    work.mkdir(parents=True, exist_ok=True)
    (work / "library.c").write_text("int rock_answer(void) { return 42; }\n")
    (work / "program.c").write_text(
        "#include <stdio.h>\n#include <unistd.h>\n#include <stdlib.h>\n"
        'static const char *of(const char *n) { const char *v = getenv(n); return v ? v : ""; }\n'
        'int main(int n, char **v) {\n  char exe[4096] = {0};\n  if (readlink("/proc/self/exe", exe, sizeof exe - 1) < 0) return 3;\n'
        '  printf("%s\\n%s\\n", v[0], exe);\n  for (int i = 1; i < n; i++) printf("%s\\n", v[i]);\n'
        '  printf("LD_LIBRARY_PATH=%s\\nPYTHONPATH=%s\\n", of("LD_LIBRARY_PATH"), of("PYTHONPATH"));\n'
        "  return n > 1 && v[1][0] == '7' ? 7 : 0;\n}\n"
    )
    argv = ["cc", "-shared", "-fPIC", f"-Wl,-soname,{ANY_SONAME}", "-o", library, work / "library.c"]
    subprocess.run(argv, check=True)
    subprocess.run(["cc", "-o", program, work / "program.c"], check=True)
    return Stand(library.read_bytes(), program.read_bytes())


@dataclass
class Stand:
    """Makes files of a stand-in tree."""

    any_library: bytes
    program: bytes

    def library(self, soname: str) -> File:
        """The library under this SONAME, which is padded with zeros in the table of strings."""
        before, name, after = self.any_library.partition(ANY_SONAME.encode())
        assert len(soname) <= len(name), soname
        return File(before + soname.encode().ljust(len(name), b"\0") + after, 0o755)

    def tables(self, package: str) -> Tree:
        """Every library of the table that a package must have."""
        tree = {}
        for name, row in libraries(package).items():
            if name not in optional_libraries():
                soname = row["so"].replace(".so.*", ".so.7").replace(".so*", ".so.7")
                tree[f"{row['dir']}/{soname}"] = self.library(soname)
        return tree

    def programs(self, package: str) -> Tree:
        return {row["program"]: File(self.program, 0o755) for row in scripts(package)}

    def core(self) -> Tree:
        info = json.dumps({"dist_amdgpu_targets": "gfx942;gfx1100"}).encode()
        # No GPU here, and nothing to say of it.
        silent = {"lib/llvm/bin/offload-arch": File(b"#!/bin/sh\nexit 1\n", 0o755)}
        headers = {"include/hip/hip_runtime.h": File(b"#pragma once\n")}
        own = {"__init__.py": File(b""), "share/therock/dist_info.json": File(info), ".info/version": File(b"7.14\n")}
        return {**self.tables("core"), **self.programs("core"), **silent, **headers, **own}

    def libraries(self) -> Tree:
        return {**self.tables("libraries"), "__init__.py": File(b"")}

    def profiler(self) -> Tree:
        modules = {"libexec/rocprofiler-compute/rocprof_compute.py": File(b"")}
        return {**self.programs("profiler"), **modules, "__init__.py": File(b"")}


def device_tree(target: str) -> Tree:
    """What a device package adds to the libraries.

    The file directly in their folder is there for uninstalling: pip removes a folder as a whole only where it removes a
    file that lies in it, and would leave the empty ones between here and the code where the libraries went first.
    """
    tree: Tree = {
        f"lib/rocblas/library/Kernels_{target}.co": File(f"code for {target}".encode()),
        f".kpack/blas_lib_{target}.kpack": File(b"KPAK"),
    }
    up = "../"
    links = [
        {"relpath": name, "target": up * len(name.split("/")) + f"_rocm_sdk_libraries/{name}"} for name in sorted(tree)
    ]
    manifest = json.dumps({"version": VERSION, "links": links}, indent=2)
    return {**tree, f".devel_links/{target}.json": File(manifest.encode()), f".device-{target}": File(b"")}


def devel_tree(runtime: Dict[str, Tree]) -> Tree:
    """The development tree of section 3.6 of the contract: links to what the runtime packages own, and the rest."""
    tree: Tree = {}
    for owner, files in runtime.items():
        for name in files:
            if name != "__init__.py":
                tree[name] = Link("../" * len(name.split("/")) + f"{owner}/{name}")
                folder, _, file = name.rpartition("/")
                stem = file.partition(".so.")[0]
                if stem != file:
                    # What a linker wants, and the real file's name upstream.
                    tree[f"{folder}/{stem}.so"] = Link(file)
                    tree[f"{folder}/{file}.1.0"] = Link(file)
    tree.update(
        {
            "__init__.py": File(b""),
            "include/rocprim/rocprim.hpp": File(b"#pragma once\n"),
            "lib/cmake/hip/hip-config.cmake": File(b"# found\n"),
            "lib/cmake/hip/a name, with a comma.cmake": File(b"\n"),
            "lib/libstatic.a": File(b"!<arch>\n"),
            "libexec/read-only.sh": File(b"#!/bin/sh\n", 0o555),
            "llvm": Link("lib/llvm"),
            "share/nothing": Folder(),
        }
    )
    drivers = ("amdclang", "amdclang++", "amdflang")
    tree.update({f"bin/{name}": Link(f"../lib/llvm/bin/{name}") for name in drivers})
    return tree


def in_order(tree: Tree) -> Iterator[Tuple[str, Any]]:
    """The members of a tarball that upstream's extractor survives, too.

    It deletes a folder the first time that it meets something in it. So a folder's own files come first, then the
    entries of its folders, then what is in those. Of the files, links to other packages come first, and links beside
    their target last, so that they find it.
    """
    folders: Dict[str, Dict[str, Any]] = {"": {}}

    def folder(path: str) -> Dict[str, Any]:
        if path not in folders:
            parent, _, name = path.rpartition("/")
            folders[path] = {}
            folder(parent)[name] = Folder()
        return folders[path]

    for path, entry in tree.items():
        parent, _, name = path.rpartition("/")
        if isinstance(entry, Folder):
            folder(path)
        else:
            folder(parent)[name] = entry

    def rank(entry: Any) -> int:
        return (0 if entry.text.startswith("../") else 2) if isinstance(entry, Link) else 1

    def walk(path: str) -> Iterator[Tuple[str, Any]]:
        entries = folders[path]
        whole = {name: f"{path}/{name}".lstrip("/") for name in entries}
        files = [name for name in entries if not isinstance(entries[name], Folder)]
        for name in sorted(files, key=lambda name: (rank(entries[name]), name)):
            yield whole[name], entries[name]
        inner = sorted(set(entries) - set(files))
        for name in inner:
            yield whole[name], entries[name]
        for name in inner:
            yield from walk(whole[name])

    return walk("")


def tarball(members: Iterable[Tuple[str, Any]], mode: str = "w", root: str = "_rocm_sdk_devel") -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode=mode, format=tarfile.PAX_FORMAT) as tar:  # type: ignore[call-overload]
        for name, entry in members:
            info = tarfile.TarInfo(f"{root}/{name}")
            info.mtime = 1700000000
            if isinstance(entry, Folder):
                info.type, info.mode = tarfile.DIRTYPE, 0o755
                tar.addfile(info)
            elif isinstance(entry, Link):
                info.type, info.linkname = tarfile.SYMTYPE, entry.text
                tar.addfile(info)
            else:
                info.mode, info.size = entry.mode, len(entry.data)
                tar.addfile(info, io.BytesIO(entry.data))
    return stream.getvalue()


def wheel(
    dist: Path, name: str, tree: Tree, requires: Iterable[str] = (), entry_points: str = "", version: str = VERSION
) -> Path:
    """A wheel of a tree, with the dist-info of section 4.2."""
    dist.mkdir(parents=True, exist_ok=True)
    stem = f"{name.replace('-', '_').lower()}-{version}"
    info = f"{stem}.dist-info"
    metadata = [
        f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n",
        *(f"Requires-Dist: {line}\n" for line in requires),
    ]
    members = dict(sorted(tree.items()))
    members[f"{info}/METADATA"] = File("".join(metadata).encode())
    members[f"{info}/WHEEL"] = File(
        f"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-{PLATFORM}\n".encode()
    )
    if entry_points:
        members[f"{info}/entry_points.txt"] = File(entry_points.encode())
    rows = io.StringIO()
    writer = csv.writer(rows, lineterminator="\n")
    for member, entry in members.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(entry.data).digest()).rstrip(b"=").decode()
        writer.writerow((member, f"sha256={digest}", len(entry.data)))
    writer.writerow((f"{info}/RECORD", "", ""))
    members[f"{info}/RECORD"] = File(rows.getvalue().encode())
    path = dist / f"{stem}-py3-none-{PLATFORM}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, entry in members.items():
            header = zipfile.ZipInfo(member, (2024, 1, 1, 0, 0, 0))
            header.external_attr = (0o100000 | entry.mode) << 16
            header.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(header, entry.data)
    return path


def entry_points(package: str, module: str) -> str:
    lines = sorted(f"{row['script']} = {module}._cli:{row['function']}\n" for row in scripts(package))
    return "[console_scripts]\n" + "".join(lines)


def sdist_tree(build: Build) -> Tree:
    return {**template("rocm"), **below("src", python_of("rocm_sdk", build, "meta"))}


def sdist(dist: Path, build: Build) -> Path:
    dist.mkdir(parents=True, exist_ok=True)
    root = f"rocm-{build.version}"
    info = File(f"Metadata-Version: 2.4\nName: rocm\nVersion: {build.version}\n".encode())
    path = dist / f"{root}.tar.gz"
    path.write_bytes(tarball(sorted({**sdist_tree(build), "PKG-INFO": info}.items()), "w:gz", root))
    return path


def all_wheels(dist: Path, stand: Stand, build: Build, payload: str = "_devel.tar") -> None:
    """The wheels of one build: core, libraries, profiler, devel, and a device package for each target."""
    core, library, profiler = stand.core(), stand.libraries(), stand.profiler()
    tree = {**python_of("rocm_sdk_core", build, "core"), **below("_rocm_sdk_core", core)}
    wheel(dist, "rocm-sdk-core", tree, entry_points=entry_points("core", "rocm_sdk_core"))
    tree = {**python_of("rocm_sdk_libraries", build, "libraries"), **below("_rocm_sdk_libraries", library)}
    wheel(dist, "rocm-sdk-libraries", tree)
    tree = {**python_of("rocm_profiler", build, "profiler"), **below("_rocm_profiler", profiler)}
    wheel(dist, "rocm-profiler", tree, entry_points=entry_points("profiler", "rocm_profiler"))
    packed = tarball(
        in_order(devel_tree({"_rocm_sdk_core": core, "_rocm_sdk_libraries": library})),
        "w:xz" if payload.endswith("xz") else "w",
    )
    tree = {**python_of("rocm_sdk_devel", build, "devel"), f"rocm_sdk_devel/{payload}": File(packed)}
    wheel(dist, "rocm-sdk-devel", tree)
    for target in build.available:
        device_wheel(dist, target)


def device_wheel(dist: Path, target: str, version: str = VERSION) -> Path:
    tree = below("_rocm_sdk_libraries", device_tree(target))
    return wheel(dist, f"rocm-sdk-device-{target}", tree, [f"rocm-sdk-libraries=={VERSION}"], version=version)
