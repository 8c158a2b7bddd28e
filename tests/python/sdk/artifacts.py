"""Artifacts as a ROCm build leaves them, with the stand-in tree of `packages`: what `rock-matrix sdk build` packs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Iterable, List

from packages import VERSION, File, Link, Stand, Tree


def put(artifacts: Path, artifact: str, tree: Tree, base: str = "build/stage") -> None:
    """Adds a tree to an artifact. What is there already stays."""
    folder = artifacts / artifact
    for name, entry in tree.items():
        path = folder / base / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink() or path.exists():
            continue
        if isinstance(entry, Link):
            path.symlink_to(entry.text)
        else:
            path.write_bytes(entry.data)
            path.chmod(entry.mode)
    manifest = folder / "artifact_manifest.txt"
    bases = set(manifest.read_text("utf-8").split()) if manifest.exists() else set()
    manifest.write_text("".join(f"{line}\n" for line in sorted({*bases, base})), "utf-8")


def chained(tree: Tree) -> Tree:
    """Libraries under their whole version, with the links that lead to it."""
    found: Tree = {}
    for path, entry in tree.items():
        name = path.rpartition("/")[2]
        found[f"{path}.1.0"] = entry
        found[path] = Link(f"{name}.1.0")
        found[f"{path.partition('.so.')[0]}.so"] = Link(name)
    return found


def rest(artifacts: Path, stand: Stand, libraries: str, names: Iterable[str]) -> None:
    """Every library and program of the tables that these files are not, so that the packages are whole."""

    def stem(path: str) -> str:
        return path.rpartition("/")[2].partition(".so")[0]

    there = {stem(name) for name in names}

    def missing(tree: Tree) -> Tree:
        return {path: entry for path, entry in tree.items() if stem(path) not in there}

    put(artifacts, "hipfile_lib_generic", chained(missing(stand.tables("core"))))
    put(artifacts, "hipify_run_generic", missing(stand.programs("core")))
    put(artifacts, libraries, chained(missing(stand.tables("libraries"))))


def manifest(artifacts: Path, version: str, targets: List[str], is_kpack: bool) -> None:
    """What a build says of itself."""
    whole = {"rocm_version": version, "flags": {"KPACK_SPLIT_ARTIFACTS": is_kpack}}
    tree = {
        "share/therock/therock_manifest.json": File(json.dumps(whole).encode()),
        "share/therock/dist_info.json": File(json.dumps({"dist_amdgpu_targets": ";".join(targets)}).encode()),
    }
    put(artifacts, "base_lib_generic", tree, "base/aux-overlay/stage")


def write(artifacts: Path, stand: Stand, targets: List[str], is_kpack: bool = True) -> None:
    """The artifacts of a build for these targets, or families of them."""
    manifest(artifacts, VERSION.replace(".dev0", ""), targets, is_kpack)
    programs = stand.programs("core")
    programs["lib/llvm/bin/offload-arch"] = stand.core()["lib/llvm/bin/offload-arch"]
    compiler = {name: entry for name, entry in programs.items() if name.startswith("lib/llvm/")}
    put(artifacts, "amd-llvm_run_generic", {**compiler, "llvm": Link("lib/llvm")})
    others = {name: entry for name, entry in programs.items() if name not in compiler}
    put(artifacts, "core-hip_run_generic", others)
    put(artifacts, "core-hip_lib_generic", chained(stand.tables("core")))
    config = {"lib/cmake/hip/hip-config.cmake": File(b"# found\n"), "lib/libstatic.a": File(b"!<arch>\n")}
    put(artifacts, "core-hip_dev_generic", {"include/hip/hip_runtime.h": File(b"#pragma once\n"), **config})
    drivers = {f"bin/{name}": Link(f"../lib/llvm/bin/{name}") for name in ("amdclang", "amdclang++", "amdflang")}
    put(artifacts, "base_run_generic", {".info/version": File(b"7.14\n"), **drivers})
    put(artifacts, "prim_dev_generic", {"include/rocprim/rocprim.hpp": File(b"#pragma once\n")})
    libraries = chained(stand.tables("libraries"))
    put(artifacts, "blas_lib_generic" if is_kpack else f"blas_lib_{targets[0]}", libraries)
    for target in targets if is_kpack else []:
        code = {
            f"lib/rocblas/library/Kernels_{target}.co": File(f"code for {target}".encode()),
            f".kpack/blas_lib_{target}.kpack": File(b"KPAK"),
        }
        put(artifacts, f"blas_lib_{target}", code)
    profilers = stand.programs("profiler")
    compute = {"libexec/rocprofiler-compute/rocprof-compute": profilers.pop("bin/rocprof-compute")}
    put(artifacts, "rocprofiler-systems_run_generic", profilers)
    put(artifacts, "rocprofiler-compute_run_generic", compute)
