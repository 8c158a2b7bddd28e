"""Which target family is chosen: by the variable, by the tool, by the kernel's list, by default. Check 25 of the contract."""

import os
import subprocess
import sys

import packages
import pytest
from conftest import CLEAN

FIXTURES = packages.REPOSITORY / "tests" / "fixtures" / "kfd"


@pytest.fixture
def choose(sources, tmp_path):
    """Asks for the target family in a process with these packages, this tool and this kernel."""

    def ask(available, *, default="", tool=None, kernel=None, code=0, question="target_family()", **env):
        folder = sources(packages.Build(available=available, default=default))
        bin_folder, sysfs = tmp_path / "bin", tmp_path / "sys"
        bin_folder.mkdir(exist_ok=True)
        if tool is not None:
            (bin_folder / "offload-arch").write_text(f"#!/bin/sh\n{tool}\n")
            (bin_folder / "offload-arch").chmod(0o755)
        for node, number in (kernel or {}).items():
            path = sysfs / f"class/kfd/kfd/topology/nodes/{node}"
            path.mkdir(parents=True, exist_ok=True)
            (path / "properties").write_text(f"cpu_cores_count 0\ngfx_target_version {number}\nsimd_count 96\n")
        env = {
            **CLEAN,
            "PATH": f"{bin_folder}:/usr/bin:/bin",
            "PYTHONPATH": str(folder),
            "ROCM_SDK_SYSFS_ROOT": str(sysfs),
            **env,
        }
        text = f"from rocm_sdk._target import *; from rocm_sdk._target import families_of; print({question})"
        done = subprocess.run([sys.executable, "-c", text], env=env, capture_output=True, text=True)
        assert done.returncode == code, done.stderr
        return done.stdout.strip() if code == 0 else done.stderr.strip().splitlines()[-1]

    return ask


def test_the_variable_wins(choose):
    available = ["gfx1100", "gfx942"]
    assert choose(available, default="gfx1100", tool="echo gfx1100", ROCM_SDK_TARGET_FAMILY="gfx942") == "gfx942"
    assert choose(available, default="gfx1100", ROCM_SDK_TARGET_FAMILY="gfx94X-dcgpu") == "gfx942"
    assert choose(["gfx94X-dcgpu", "gfx110X-all"], ROCM_SDK_TARGET_FAMILY="gfx1101") == "gfx110X-all"
    assert choose(available, default="gfx1100", ROCM_SDK_TARGET_FAMILY=" ") == "gfx1100"


def test_a_variable_that_names_none_lists_the_choices(choose):
    told = choose(["gfx1100", "gfx942"], tool="echo gfx942", ROCM_SDK_TARGET_FAMILY="gfx1200", code=1)
    assert told == "ValueError: ROCM_SDK_TARGET_FAMILY is 'gfx1200'; there are packages for: gfx1100, gfx942"


@pytest.mark.parametrize(
    "said, available, chosen",
    [
        ("gfx950", ["gfx950-dcgpu"], "gfx950-dcgpu"),
        ("gfx906", ["gfx906-dgpu", "gfx94X-dcgpu"], "gfx906-dgpu"),
        ("gfx90a:sramecc+:xnack-", ["gfx90a-dcgpu"], "gfx90a-dcgpu"),
        ("gfx90c", ["gfx90c-igpu"], "gfx90c-igpu"),
        ("gfx942", ["gfx94X-dcgpu"], "gfx94X-dcgpu"),
        ("gfx1101", ["gfx110X-dgpu", "gfx110X-all"], "gfx110X-all"),
        ("gfx1151", ["gfx1150", "gfx1151"], "gfx1151"),
        ("gfx942\\ngfx1100", ["gfx1100", "gfx942"], "gfx942"),
        ("gfx1100\\ngfx942", ["gfx1100", "gfx942"], "gfx1100"),
        ("gfx1030\\ngfx942", ["gfx1100", "gfx942"], "gfx942"),
        ("warning: gfx1100\\n  gfx942  ", ["gfx1100", "gfx942"], "gfx942"),
    ],
)
def test_lines_of_the_tool_count_in_their_order(choose, said, available, chosen):
    assert choose(available, default="other", tool=f"printf '{said}\\n'") == chosen


@pytest.mark.parametrize("tool", [None, "exit 1", "echo gfx942; exit 3", "echo 'no GPU is here'", "kill -9 $$"])
def test_the_kernel_is_read_where_the_tool_tells_nothing(choose, tool):
    assert choose(["gfx942", "gfx1151"], default="gfx942", tool=tool, kernel={0: 0, 1: 110501}) == "gfx1151"


@pytest.mark.parametrize(
    "number, target",
    [
        (90402, "gfx942"),
        (90010, "gfx90a"),
        (110501, "gfx1151"),
        (120001, "gfx1201"),
        (100306, "gfx1036"),
        (90012, "gfx90c"),
        (90500, "gfx950"),
    ],
)
def test_the_number_of_the_kernel_is_a_target(choose, number, target):
    assert choose([], kernel={1: number}, question="targets_of_kernel()") == str([target])


def test_nodes_count_in_numeric_order(choose):
    assert choose([], kernel={10: 90402, 2: 110000, 0: 0}, question="targets_of_kernel()") == "['gfx1100', 'gfx942']"


def test_real_topologies_are_read(choose):
    found = {}
    for folder in sorted(FIXTURES.iterdir()):
        found[folder.name] = choose([], question="targets_of_kernel()", ROCM_SDK_SYSFS_ROOT=str(folder / "sys"))
    assert found["strix-halo"] == "['gfx1151']"
    assert found["mi250x-2gcd"] == "['gfx90a', 'gfx90a']"
    assert "Traceback" not in str(found)


def test_the_default_is_last_and_may_be_missing(choose):
    assert choose(["gfx1100", "gfx942"], default="gfx1100") == "gfx1100"
    assert choose(["gfx1100"], default="gfx1100", kernel={1: 120001}) == "gfx1100"
    assert choose([], code=1) == "ValueError: this build of the SDK has no packages for single GPUs"


def test_the_choice_is_made_once_a_process(choose, tmp_path):
    tool = f"echo x >>{tmp_path}/calls; echo gfx942"
    assert choose(["gfx942"], tool=tool, question="target_family(), target_family()") == "gfx942 gfx942"
    assert (tmp_path / "calls").read_text() == "x\n"


def test_the_search_is_silent_unless_asked(choose, sources, tmp_path):
    folder = sources(packages.Build(available=["gfx942"], default="gfx942"))
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/offload-arch").write_text("#!/bin/sh\necho a warning >&2\necho gfx942\n")
    (tmp_path / "bin/offload-arch").chmod(0o755)
    env = {**CLEAN, "PATH": f"{tmp_path}/bin:/usr/bin:/bin", "PYTHONPATH": str(folder)}
    argv = [sys.executable, "-c", "from rocm_sdk._target import *; target_family()"]
    quiet = subprocess.run(argv, env=env, capture_output=True, text=True)
    assert (quiet.stdout, quiet.stderr) == ("", "")
    told = subprocess.run(argv, env={**env, "ROCM_SDK_VERBOSE": "1"}, capture_output=True, text=True)
    assert told.stdout == "" and "a warning" in told.stderr and "gfx942 is here" in told.stderr


def test_the_tool_beside_the_interpreter_is_found_before_others(installed, tmp_path):
    """Its console script reaches the program in the package, and unpacks nothing for it."""
    program = installed.site / "_rocm_sdk_core/lib/llvm/bin/offload-arch"
    program.write_text("#!/bin/sh\necho gfx942\n")
    (tmp_path / "offload-arch").write_text("#!/bin/sh\necho gfx1100\n")
    (tmp_path / "offload-arch").chmod(0o755)
    path = f"{tmp_path}:{os.defpath}"
    assert installed.python_says("from rocm_sdk._target import *; print(target_family())", PATH=path) == "gfx942"
    assert not installed.devel.exists()
