"""Console scripts become the programs of their names, from the tree that fits."""

import packages


def test_each_script_runs_its_program_and_keeps_arguments(installed):
    for row in packages.scripts("core"):
        name, program = row["script"], row["program"]
        if name == "offload-arch":
            continue
        lines = installed.script(name, "a b", "*", "--c")
        root = installed.site / ("_rocm_sdk_devel" if installed.devel.exists() else "_rocm_sdk_core")
        assert lines[:1] + lines[2:5] == [f"{root}/{program}", "a b", "*", "--c"], name


def test_a_compiler_unpacks_the_development_files_and_finds_itself_there(installed):
    lines = installed.script("amdclang++", "x.cpp")
    assert lines[:3] == [f"{installed.devel}/lib/llvm/bin/amdclang++"] * 2 + ["x.cpp"]
    assert not (installed.site / "rocm_sdk_devel/_devel.tar").exists()


def test_tools_that_only_look_do_not_unpack(installed):
    for name in ("rocminfo", "amd-smi", "rocm-smi", "rocm_agent_enumerator"):
        assert installed.script(name)[0] == f"{installed.site}/_rocm_sdk_core/bin/{name}"
    assert installed.script("offload-arch", code=1) == []
    assert not installed.devel.exists()
    installed.sdk("init")
    assert installed.script("rocminfo")[0] == f"{installed.devel}/bin/rocminfo"


def test_without_development_files_the_runtime_serves(environment):
    environment.install("rocm")
    assert environment.script("amdclang")[0] == f"{environment.site}/_rocm_sdk_core/lib/llvm/bin/amdclang"
    environment.pip("uninstall", "-q", "-y", "rocm")
    assert environment.script("hipcc")[0] == f"{environment.site}/_rocm_sdk_core/bin/hipcc"


def test_development_files_that_cannot_be_unpacked_are_told_and_gone_without(installed):
    (installed.site / "rocm_sdk_devel/_devel.tar").write_bytes(b"damaged" * 1000)
    done = installed.run(str(installed.folder / "bin/amdclang"))
    assert done.stdout.splitlines()[0] == f"{installed.site}/_rocm_sdk_core/lib/llvm/bin/amdclang"
    assert done.stderr.startswith("rocm-sdk: going on without the development files: ")


def test_a_module_in_the_working_directory_is_not_taken(installed):
    (installed.folder / "rocm_sdk.py").write_text("raise SystemExit('taken')\n")
    assert installed.script("amdclang")[0].startswith(str(installed.devel))


def test_the_exit_code_is_the_programs(installed):
    installed.script("rocminfo", "7", code=7)


def test_a_program_that_was_not_packaged_is_told(installed):
    (installed.site / "_rocm_sdk_core/bin/amd-smi").unlink()
    done = installed.run(str(installed.folder / "bin/amd-smi"), code=1)
    assert (
        done.stderr
        == f"bin/amd-smi is not in {installed.site}/_rocm_sdk_core: this build of the SDK does not have it\n"
    )


def test_profilers_get_their_environment_and_nobody_else_does(environment):
    environment.install("rocm[profiler]")
    site = environment.site
    root, core = site / "_rocm_profiler", site / "_rocm_sdk_core"
    for row in packages.scripts("profiler"):
        lines = environment.script(row["script"], LD_LIBRARY_PATH=f"/other::{root}/lib", PYTHONPATH="/modules")
        assert lines[0] == f"{root}/{row['program']}"
        assert lines[-2] == f"LD_LIBRARY_PATH={root}/lib:{core}/lib/rocm_sysdeps/lib:/other"
        assert lines[-1] == f"PYTHONPATH={root}/libexec/rocprofiler-compute:/modules"
    assert "_rocm_profiler" not in " ".join(environment.script("rocminfo"))


def test_on_windows_a_program_ends_in_exe_and_its_code_is_handed_on(installed, tmp_path):
    """Only the choice of the file and the code are shown here: `os.name` is changed, the system is not."""
    program = installed.site / "_rocm_sdk_core/bin/hipInfo.exe"
    program.write_text("#!/bin/sh\nexit 5\n")
    program.chmod(0o755)
    text = (
        "import os, sys, types\nfrom rocm_sdk_core import _trampoline\nsys.argv = ['x', 'y']\n"
        "_trampoline.os = types.SimpleNamespace(**{**vars(os), 'name': 'nt'})\n"
        f"_trampoline.become(_trampoline.program_in(['{installed.site}/_rocm_sdk_core'], 'bin/hipInfo'))"
    )
    installed.run(str(installed.python), "-c", text, code=5)


def test_a_compiler_starts_without_what_it_does_not_need(installed):
    """Builds start compilers thousands of times."""
    installed.sdk("init")
    text = "import sys\nbefore = set(sys.modules)\nimport rocm_sdk_core._cli as c\nc.amdclangpp\nc.roots(True)\nprint(sorted(set(sys.modules) - before))"
    loaded = installed.python_says(text)
    for heavy in ("subprocess", "tarfile", "importlib.metadata", "ctypes", "pathlib", "rocm_sdk'"):
        assert heavy not in loaded
