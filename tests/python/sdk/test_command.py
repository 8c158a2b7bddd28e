"""`rocm-sdk` in an environment that an installer made: check 17 of the contract, and what it says when something lacks."""

import os
import tarfile

import packages
import pytest


def test_each_question_has_its_answer(installed):
    assert installed.sdk("version").stdout == f"{packages.VERSION}\n"
    assert installed.sdk("targets").stdout == "gfx942;gfx1100\n"
    assert installed.sdk("path", "--root").stdout == f"{installed.devel}\n"
    assert installed.sdk("path", "--bin").stdout == f"{installed.devel}/bin\n"
    assert installed.sdk("path", "--cmake").stdout == f"{installed.devel}/lib/cmake\n"
    assert installed.sdk("init").stdout == f"{installed.devel}\n"
    assert installed.sdk("init", "--quiet").stdout == ""
    assert installed.run(str(installed.python), "-m", "rocm_sdk", "version").stdout == f"{packages.VERSION}\n"


def test_a_question_is_asked_one_at_a_time(installed):
    assert "required" in installed.sdk("path", code=2).stderr
    assert "not allowed with" in installed.sdk("path", "--root", "--bin", code=2).stderr
    assert "required" in installed.sdk(code=2).stderr


def test_the_installed_packages_pass_their_own_test(installed):
    installed.install("rocm[profiler]")
    done = installed.sdk("test")
    for part in ("base_test", "core_test", "libraries_test", "devel_test", "profiler_test"):
        assert part in done.stderr
    assert "skipped" not in done.stderr and "\nOK\n" in done.stderr


@pytest.mark.slow
def test_their_own_test_fails_where_a_library_is_broken(environment):
    environment.install("rocm")
    (environment.site / "_rocm_sdk_core/lib/libamdhip64.so.7").write_bytes(b"no ELF file")
    done = environment.sdk("test", code=1)
    assert "amdhip64: OSError" in done.stderr and "libraries_test" not in done.stderr


def test_without_the_development_files_it_says_what_to_install(environment):
    environment.install("rocm")
    for arguments in (("path", "--root"), ("init",)):
        done = environment.sdk(*arguments, code=1)
        assert done.stdout == "" and f"pip install 'rocm[devel]=={packages.VERSION}'" in done.stderr


@pytest.mark.parametrize("text", ["[]", "{", "{}", "\udcff"])
def test_a_list_of_targets_that_is_none_is_told_by_its_path(installed, text):
    path = installed.site / "_rocm_sdk_core/share/therock/dist_info.json"
    path.write_text(text, "utf-8", errors="surrogateescape")
    done = installed.sdk("targets", code=1)
    assert done.stdout == "" and done.stderr.startswith(f"rocm-sdk: {path} names no targets: "), done.stderr


def test_who_has_read_enough_is_told_nothing(installed):
    command = f"{installed.folder}/bin/rocm-sdk path --root | true"
    done = installed.run("bash", "-o", "pipefail", "-c", command)
    assert (done.stdout, done.stderr) == ("", "")


def test_packages_agree_for_the_installer(installed):
    assert installed.pip("check").stdout == "No broken requirements found.\n"


def test_every_member_is_on_disk_and_listed_once(installed):
    with tarfile.open(installed.site / "rocm_sdk_devel/_devel.tar") as tar:
        names = tar.getnames()
    assert len(names) > 100
    installed.sdk("init")
    rows = installed.record("rocm_sdk_devel")
    assert [name for name in names if not os.path.lexists(installed.site / name)] == []
    assert [name for name in names if rows.count(name) != 1] == []
    assert len(rows) == len(set(rows))
    assert not (installed.site / "rocm_sdk_devel/_devel.tar").exists()


def test_files_are_hard_links_and_drivers_and_folders_are_symbolic_ones(installed):
    installed.sdk("init")
    devel, core = installed.devel, installed.site / "_rocm_sdk_core"
    for alias in ("libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.7.1.0"):
        assert not (devel / "lib" / alias).is_symlink()
        assert os.path.samefile(devel / "lib" / alias, core / "lib/libamdhip64.so.7")
    assert os.path.samefile(devel / "lib/libhipblas.so", installed.site / "_rocm_sdk_libraries/lib/libhipblas.so.7")
    assert os.readlink(devel / "bin/amdclang") == "../lib/llvm/bin/amdclang"
    assert os.readlink(devel / "llvm") == "lib/llvm"
    assert os.path.samefile(devel / "bin/hipcc", core / "bin/hipcc") and not (devel / "bin/hipcc").is_symlink()
    assert os.path.samefile(devel / "lib/llvm/bin/amdclang", core / "lib/llvm/bin/amdclang")
    assert (devel / "libexec/read-only.sh").stat().st_mode & 0o777 == 0o555
    assert int((devel / "libexec/read-only.sh").stat().st_mtime) == 1700000000
    assert (devel / "share/nothing").is_dir()


def test_a_second_question_writes_nothing(installed):
    def state():
        found = {}
        for folder, _, files in os.walk(installed.site):
            for name in files:
                stat = os.lstat(os.path.join(folder, name))
                found[os.path.join(folder, name)] = (stat.st_ino, stat.st_mtime_ns, stat.st_size)
        return found

    installed.sdk("path", "--root", PYTHONDONTWRITEBYTECODE="1")
    before = state()
    installed.sdk("path", "--root", PYTHONDONTWRITEBYTECODE="1")
    assert state() == before


PACKAGES = ("rocm", "rocm-sdk-core", "rocm-sdk-libraries", "rocm-sdk-devel", "rocm-sdk-device-gfx942", "rocm-profiler")


@pytest.mark.slow
@pytest.mark.parametrize(
    "order", [PACKAGES, PACKAGES[::-1], PACKAGES[2:] + PACKAGES[:2]], ids=["first", "last", "mixed"]
)
def test_uninstalling_in_any_order_leaves_nothing(installed, order):
    installed.install("rocm[profiler]")
    installed.sdk("path", "--root")
    installed.python_says("import rocm_sdk; rocm_sdk.preload_libraries('hipblas')")
    installed.uninstall(*order)
    assert installed.left == []


@pytest.mark.slow
def test_the_tree_is_rebuilt_by_an_upgrade(installed):
    installed.sdk("init")
    (installed.devel / "stale.txt").write_text("of an older tree")
    installed.pip(
        "install",
        "-q",
        "--no-index",
        "--no-deps",
        "--force-reinstall",
        "--find-links",
        str(installed.dist),
        "--pre",
        "rocm-sdk-devel",
    )
    installed.sdk("init")
    assert not (installed.devel / "stale.txt").exists()
    assert (installed.devel / "lib/rocblas/library/Kernels_gfx942.co").is_file()
    installed.own_tests("base_test", "devel_test")
