"""The source distribution `rocm`: what it requires is chosen where it is installed."""

import subprocess
import sys
import zipfile
from email.parser import HeaderParser

import conftest
import packages
import pytest

# Each builds the source as an installer does.
pytestmark = pytest.mark.slow


@pytest.fixture
def metadata(tmp_path, backend):
    """The METADATA of `rocm` for a build, as an installer gets it: by the hook of PEP 517."""
    runs = []

    def read(build, **env):
        runs.append(build)
        folder = tmp_path / str(len(runs))
        source = packages.sdist(folder, build)
        made = conftest.call_hook(backend, "prepare_metadata_for_build_wheel", source, folder, **env)
        return HeaderParser().parsestr((made / "METADATA").read_text("utf-8"))

    return read


def requirements(found, extra):
    lines = [line.replace("'", '"') for line in found.get_all("Requires-Dist")]
    ending = f'extra == "{extra}"'
    mine = [line for line in lines if line.endswith(ending)]
    return [
        line[: -len(ending)].strip().rstrip("; ").removesuffix(" and").replace("(", "").replace(")", "")
        for line in mine
    ]


V = packages.VERSION


def test_extras_of_a_build_for_two_targets(metadata):
    found = metadata(packages.Build())
    assert found.get_all("Provides-Extra") and set(found.get_all("Provides-Extra")) == {
        "libraries", "device", "devel", "profiler", "device-gfx1100", "device-gfx942", "device-all",
    }  # fmt: skip
    assert found.get_all("Requires-Dist")[0] == f"rocm-sdk-core=={V}"
    assert requirements(found, "libraries") == [f"rocm-sdk-libraries=={V}"]
    assert requirements(found, "device") == [f"rocm-sdk-device-gfx1100=={V}"]
    assert requirements(found, "device-gfx942") == [f"rocm-sdk-device-gfx942=={V}"]
    assert requirements(found, "device-all") == [f"rocm-sdk-device-gfx1100=={V}", f"rocm-sdk-device-gfx942=={V}"]
    assert requirements(found, "profiler") == [f"rocm-profiler=={V}"]
    assert requirements(found, "devel") == [f"rocm-sdk-devel=={V}"]


def test_the_kernel_decides_in_an_environment_without_tools(metadata):
    sysfs = str(packages.REPOSITORY / "tests/fixtures/kfd/strix-halo/sys")
    found = metadata(packages.Build(available=["gfx1100", "gfx1151"]), ROCM_SDK_SYSFS_ROOT=sysfs)
    assert requirements(found, "device") == [f"rocm-sdk-device-gfx1151=={V}"]


def test_the_variable_decides_and_a_wrong_one_drops_the_extra(metadata):
    found = metadata(packages.Build(), ROCM_SDK_TARGET_FAMILY="gfx942")
    assert requirements(found, "device") == [f"rocm-sdk-device-gfx942=={V}"]
    found = metadata(packages.Build(), ROCM_SDK_TARGET_FAMILY="gfx1200")
    assert "device" not in found.get_all("Provides-Extra") and "device-gfx942" in found.get_all("Provides-Extra")


def test_one_target_has_no_list_of_extras(metadata):
    found = metadata(packages.Build(available=["gfx942"], default="gfx942"))
    assert set(found.get_all("Provides-Extra")) == {"libraries", "device", "devel", "profiler"}
    found = metadata(packages.Build(available=[], default=""))
    assert set(found.get_all("Provides-Extra")) == {"libraries", "devel", "profiler"}


def test_a_target_of_one_platform_is_limited_to_it(metadata):
    build = packages.Build(
        available=["gfx1100", "gfx1151", "gfx942"], linux=["gfx1100", "gfx942"], windows=["gfx1100", "gfx1151"]
    )
    found = metadata(build)
    assert requirements(found, "device-gfx942") == [f'rocm-sdk-device-gfx942=={V}; sys_platform == "linux"']
    assert requirements(found, "device-gfx1151") == [f'rocm-sdk-device-gfx1151=={V}; sys_platform == "win32"']
    assert requirements(found, "device-gfx1100") == [f"rocm-sdk-device-gfx1100=={V}"]
    assert len(requirements(found, "device-all")) == 3


def test_in_a_build_by_families_the_libraries_are_chosen(metadata):
    build = packages.Build(available=["gfx110X-all", "gfx94X-dcgpu"], default="gfx110X-all", is_kpack=False)
    found = metadata(build)
    assert requirements(found, "libraries") == [f"rocm-sdk-libraries-gfx110X-all=={V}"]
    extras = {name.lower() for name in found.get_all("Provides-Extra")}
    assert extras == {
        "libraries",
        "devel",
        "profiler",
        "libraries-gfx110x-all",
        "libraries-gfx94x-dcgpu",
        "libraries-all",
    }


@pytest.mark.once
def test_the_source_installs_with_extras(environment, tmp_path, wheelhouse):
    """As a person does it: by name, from a page of files, the source built in an environment of its own."""
    links = tmp_path / "links"
    packages.sdist(links, packages.Build())
    argv = ["install", "-q", "--no-index", "--pre", "--no-cache-dir"]
    for folder in (links, wheelhouse):
        argv += ["--find-links", str(folder)]
    for path in environment.dist.glob("rocm_*.whl"):
        (links / path.name).symlink_to(path)
    environment.pip(*argv, "rocm[libraries,devel,device,profiler]")
    environment.sdk("test")
    (entry,) = environment.site.glob("rocm-*.dist-info/entry_points.txt")
    assert entry.read_text().split("\n")[1] == "rocm-sdk = rocm_sdk.__main__:main"
    environment.uninstall(
        "rocm", "rocm-sdk-core", "rocm-sdk-libraries", "rocm-sdk-devel", "rocm-sdk-device-gfx1100", "rocm-profiler"
    )
    assert environment.left == []


@pytest.mark.once
def test_building_leaves_the_sources_as_they_were(tmp_path, wheelhouse):
    """And takes no stray folder for a package."""
    source = tmp_path / "source"
    strays = {f"{folder}stray/__init__.py": packages.File(b"") for folder in ("", "src/")}
    packages.written(source, {**packages.sdist_tree(packages.Build()), **strays})
    argv = ["wheel", "-q", "--no-index", "--no-deps", "--find-links", str(wheelhouse), "-w", str(tmp_path), str(source)]
    subprocess.run([sys.executable, "-m", "pip", "--isolated", *argv], check=True, env=conftest.CLEAN)
    (path,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(path) as wheel:
        assert {name.split("/")[0] for name in wheel.namelist()} == {"rocm_sdk", f"rocm-{V}.dist-info"}
        assert "rocm_sdk/tests/devel_test.py" in wheel.namelist() and "rocm_sdk/py.typed" in wheel.namelist()
    assert list((source / "src/rocm_sdk").rglob("__pycache__")) == []
