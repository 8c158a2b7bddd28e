"""Device packages come and go after the development files were unpacked: check 18 of the contract."""

import json
import os

import packages
import pytest

KERNELS = "lib/rocblas/library/Kernels_{}.co"
# The tests of the packages themselves that ask for what device packages bring.
ABOUT_DEVICES = ("devel_test", "libraries_test.Libraries.test_files_of_device_packages_are_there")


@pytest.mark.slow
def test_a_device_package_that_comes_later_is_linked_and_listed_once(installed):
    installed.sdk("init")
    installed.install("rocm-sdk-device-gfx1100")
    for _ in range(3):
        installed.sdk("init")
    for target in ("gfx942", "gfx1100"):
        for relpath in (KERNELS.format(target), f".kpack/blas_lib_{target}.kpack"):
            assert os.path.samefile(installed.devel / relpath, installed.site / "_rocm_sdk_libraries" / relpath)
            assert not (installed.devel / relpath).is_symlink()
            assert installed.record(f"rocm_sdk_device_{target}").count(f"_rocm_sdk_devel/{relpath}") == 1
    assert not (installed.devel / ".devel_links").exists()
    installed.own_tests(*ABOUT_DEVICES)


@pytest.mark.slow
def test_removing_a_device_package_takes_its_links_and_leaves_the_others(installed):
    installed.install("rocm-sdk-device-gfx1100")
    installed.sdk("init")
    installed.uninstall("rocm-sdk-device-gfx1100")
    for root in ("_rocm_sdk_devel", "_rocm_sdk_libraries"):
        assert not (installed.site / root / KERNELS.format("gfx1100")).exists()
        assert (installed.site / root / KERNELS.format("gfx942")).is_file()
    assert (
        installed.python_says("import rocm_sdk; print(rocm_sdk.find_libraries('hipblas')[0].name)") == "libhipblas.so.7"
    )
    installed.own_tests(*ABOUT_DEVICES)


@pytest.mark.parametrize("text", ["[]", "{", '{"links": 5}', '{"links": [{"relpath": "a"}]}'])
def test_a_list_of_links_that_is_none_is_told_by_its_path(installed, text):
    (path,) = (installed.site / "_rocm_sdk_libraries/.devel_links").glob("*.json")
    path.write_text(text, "utf-8")
    assert installed.sdk("init", code=1).stderr.startswith(f"rocm-sdk: {path} is no list of links: ")


def test_stale_files_and_links_are_replaced(installed):
    installed.sdk("init")
    path, target = (
        installed.devel / KERNELS.format("gfx942"),
        installed.site / "_rocm_sdk_libraries" / KERNELS.format("gfx942"),
    )
    path.unlink()
    path.write_text("of an older package")
    installed.sdk("init")
    assert os.path.samefile(path, target)
    path.unlink()
    path.symlink_to(target)
    installed.sdk("init")
    assert os.path.samefile(path, target) and not path.is_symlink()


def test_replacing_a_link_keeps_the_file_of_the_package(installed):
    """A copy of another time stands where the link belongs; the package's own file must not be written through it."""
    installed.sdk("init")
    target = installed.site / "_rocm_sdk_libraries" / KERNELS.format("gfx942")
    before = target.read_bytes()
    (installed.devel / KERNELS.format("gfx942")).unlink()
    (installed.devel / KERNELS.format("gfx942")).write_bytes(b"x")
    installed.sdk("init")
    assert target.read_bytes() == before


@pytest.mark.parametrize(
    "version, is_linked", [(f"{packages.VERSION.replace('.dev0', '')}.post3.dev0", True), ("7.13.0", False)]
)
def test_a_device_package_fits_by_version_whatever_its_post_release(installed, tmp_path, version, is_linked):
    path = packages.device_wheel(tmp_path / "other", "gfx950", version)
    installed.install(str(path))
    installed.sdk("init")
    assert (installed.devel / KERNELS.format("gfx950")).exists() == is_linked


@pytest.mark.parametrize("relpath", ["../outside.co", "/tmp/outside.co", "lib/../../outside.co", "lib//x"])
def test_a_manifest_cannot_reach_out_of_the_tree(installed, relpath):
    manifest = installed.site / "_rocm_sdk_libraries/.devel_links/gfx942.json"
    manifest.write_text(json.dumps({"version": packages.VERSION, "links": [{"relpath": relpath, "target": "../x"}]}))
    assert "no path below the development tree" in installed.sdk("init", code=1).stderr
    assert not (installed.site / "outside.co").exists()


def test_a_manifest_links_only_what_packages_brought(installed):
    manifest = installed.site / "_rocm_sdk_libraries/.devel_links/gfx942.json"
    links = [
        {"relpath": "lib/x", "target": "/etc/hostname"},
        {"relpath": "lib/y", "target": "../" * 30 + "etc/hostname"},
    ]
    manifest.write_text(json.dumps({"version": packages.VERSION, "links": links}))
    installed.sdk("init")
    assert not (installed.devel / "lib/x").exists() and not (installed.devel / "lib/y").exists()


def test_somebody_elses_environment_is_told_apart(installed):
    text = (
        "import os, sys\ndef no(*a, **k): raise PermissionError(13, 'Permission denied')\nos.open = no\n"
        "from rocm_sdk.__main__ import main\nsys.exit(main(['init']))"
    )
    told = installed.python_says(text, code=1)
    assert told.startswith("rocm-sdk: only the owner of ") and "run `rocm-sdk init` as that user" in told


def test_a_read_only_environment_answers_once_it_is_unpacked(installed):
    installed.sdk("init")
    text = "import os\ndef no(*a, **k): raise PermissionError(13, 'read-only')\nos.open = no\nfrom rocm_sdk import _devel\nprint(_devel.root())"
    assert installed.python_says(text) == str(installed.devel)
