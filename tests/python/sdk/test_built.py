"""The same promises of packages that the program built: checks 16, 17, 18, 19 and 25 of the contract."""

import base64
import csv
import hashlib
import os
import subprocess
import sys
import tarfile
import zipfile

import packages
import pytest
from conftest import CLEAN
from trees import tree_of, wiping

pytestmark = pytest.mark.once
KERNELS = "lib/rocblas/library/Kernels_{}.co"


def payload(environment):
    return (environment.site / "rocm_sdk_devel/_devel.tar").read_bytes()


def test_what_was_built_is_valid_and_installs_side_by_side(built):
    """Check 16."""
    for wheel in sorted(built.dist.glob("*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            assert archive.testzip() is None
            (record,) = [name for name in archive.namelist() if name.endswith(".dist-info/RECORD")]
            about = archive.read(record.replace("RECORD", "WHEEL")).decode()
            assert "\nRoot-Is-Purelib: true\n" in about, about
            rows = {row[0]: row[1:] for row in csv.reader(archive.read(record).decode().splitlines())}
            assert sorted(rows) == sorted(name for name in archive.namelist() if not name.endswith("/"))
            for name, (told, size) in rows.items():
                if name != record:
                    content = archive.read(name)
                    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
                    assert (told, size) == (f"sha256={digest}", str(len(content))), name
    for folder in ("_rocm_profiler", "_rocm_sdk_core", "_rocm_sdk_libraries", "rocm_sdk"):
        assert (built.site / folder).is_dir(), folder
    assert "rocm_sdk_device_gfx942" in built.installed_names
    assert built.pip("check").stdout == "No broken requirements found.\n"


def test_what_was_built_answers_unpacks_and_tests_itself(built):
    """Check 17."""
    with tarfile.open(built.site / "rocm_sdk_devel/_devel.tar") as tar:
        names = tar.getnames()
    assert len(names) > 100
    assert built.sdk("version").stdout == f"{packages.VERSION}\n"
    assert built.sdk("targets").stdout == "gfx1100;gfx942\n"
    for option, below in (("--root", ""), ("--bin", "/bin"), ("--cmake", "/lib/cmake")):
        assert built.sdk("path", option).stdout == f"{built.devel}{below}\n"
    before = tree_of(built.site)
    built.sdk("path", "--root", PYTHONDONTWRITEBYTECODE="1")
    assert tree_of(built.site) == before
    rows = built.record("rocm_sdk_devel")
    assert [name for name in names if not os.path.lexists(built.site / name) or rows.count(name) != 1] == []

    core, libraries = built.site / "_rocm_sdk_core", built.site / "_rocm_sdk_libraries"
    for alias in ("libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.7.1.0"):
        assert os.path.samefile(built.devel / "lib" / alias, core / "lib/libamdhip64.so.7")
        assert not (built.devel / "lib" / alias).is_symlink()
    assert os.path.samefile(built.devel / "lib/libhipblas.so", libraries / "lib/libhipblas.so.7")
    assert os.readlink(built.devel / "bin/amdclang") == "../lib/llvm/bin/amdclang"
    assert os.readlink(built.devel / "llvm") == "lib/llvm"
    done = built.sdk("test")
    assert "skipped" not in done.stderr and "\nOK\n" in done.stderr
    assert built.pip("check").stdout == "No broken requirements found.\n"
    assert built.script("amdclang++")[1] == f"{built.devel}/lib/llvm/bin/amdclang++"
    assert built.script("rocprof-compute")[1].startswith(f"{built.site}/_rocm_profiler/")

    built.uninstall(*built.installed_names)
    assert built.left == []


def test_of_what_was_built_a_device_package_comes_and_goes(built):
    """Check 18."""
    built.sdk("init")
    built.install("rocm-sdk-device-gfx1100")
    for _ in range(2):
        built.sdk("init")
    for target in ("gfx942", "gfx1100"):
        for relpath in (KERNELS.format(target), f".kpack/blas_lib_{target}.kpack"):
            assert os.path.samefile(built.devel / relpath, built.site / "_rocm_sdk_libraries" / relpath)
            assert not (built.devel / relpath).is_symlink()
            assert built.record(f"rocm_sdk_device_{target}").count(f"_rocm_sdk_devel/{relpath}") == 1
    built.uninstall("rocm-sdk-device-gfx1100")
    for root in ("_rocm_sdk_devel", "_rocm_sdk_libraries"):
        assert not (built.site / root / KERNELS.format("gfx1100")).exists()
        assert (built.site / root / KERNELS.format("gfx942")).is_file()
    assert built.python_says("import rocm_sdk; print(rocm_sdk.find_libraries('hipblas')[0].name)") == "libhipblas.so.7"
    built.sdk("test")


def test_upstreams_way_of_unpacking_loses_nothing_of_what_was_built(built):
    """Check 19."""
    data = payload(built)
    wiping(data, built.site)
    theirs = tree_of(built.devel)
    with tarfile.open(built.site / "rocm_sdk_devel/_devel.tar") as tar:
        names = {os.path.relpath(name, "_rocm_sdk_devel") for name in tar.getnames()}
    assert names <= set(theirs) and ".info/version" in names
    assert not (built.devel / "lib/libamdhip64.so.7.1.0").is_symlink()


@pytest.fixture
def choose(tmp_path):
    """Asks the source distribution of a build for the target family, with this tool and this kernel."""

    def ask(dist, tool="exit 1", number=0, code=0, **env):
        (source,) = dist.glob("rocm-*.tar.gz")
        (tmp_path / "source").mkdir(exist_ok=True)
        subprocess.run(["tar", "-x", "-f", source, "-C", tmp_path / "source"], check=True)
        (folder,) = (tmp_path / "source").glob("rocm-*/src")
        node = tmp_path / "sys/class/kfd/kfd/topology/nodes/1"
        node.mkdir(parents=True, exist_ok=True)
        (node / "properties").write_text(f"gfx_target_version {number}\n")
        (tmp_path / "bin").mkdir(exist_ok=True)
        (tmp_path / "bin/offload-arch").write_text(f"#!/bin/sh\n{tool}\n")
        (tmp_path / "bin/offload-arch").chmod(0o755)
        env = {
            **CLEAN,
            "PATH": f"{tmp_path}/bin:/usr/bin:/bin",
            "PYTHONPATH": str(folder),
            "ROCM_SDK_SYSFS_ROOT": str(tmp_path / "sys"),
            **env,
        }
        text = "from rocm_sdk._target import target_family; print(target_family())"
        done = subprocess.run([sys.executable, "-B", "-c", text], env=env, capture_output=True, text=True)
        assert done.returncode == code, done.stderr
        return done.stdout.strip() if code == 0 else done.stderr.strip().splitlines()[-1]

    return ask


def test_what_was_built_finds_the_gpu(build_with, choose, tmp_path):
    """Check 25."""
    families = build_with(tmp_path / "families", ["gfx950-dcgpu"], is_kpack=False)
    assert choose(families, "echo gfx950") == "gfx950-dcgpu"
    targets = build_with(tmp_path / "targets", ["gfx1100", "gfx1151", "gfx942"])
    assert choose(targets, number=110501) == "gfx1151"
    assert choose(targets, "echo gfx942", 110501) == "gfx942"
    assert choose(targets) == "gfx1100"
    assert choose(targets, "echo gfx942", ROCM_SDK_TARGET_FAMILY="gfx1100") == "gfx1100"
    told = choose(targets, code=1, ROCM_SDK_TARGET_FAMILY="gfx1200")
    assert told == "ValueError: ROCM_SDK_TARGET_FAMILY is 'gfx1200'; there are packages for: gfx1100, gfx1151, gfx942"
