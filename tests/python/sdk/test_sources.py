"""The sources as such: typed, tidy, the same in every package, and safe from names that come out of folder names."""

import ast
import importlib.util
import shutil
import subprocess
import sys

import packages
import pytest

HOSTILE = [
    "gfx9');import os#",
    'gfx9"]);import os#',
    "gfx9\\",
    "gfx9\n__import__('os').abort()\n",
    "gfx9\u2028\U0001f600",
    "gfx9'''",
    "{target_family}",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_only_a_name(name):
    """Check 22 of the contract: what a folder is called ends up in Python that an installer runs."""
    build = packages.Build(available=[name], default=name, linux=[name], version=f"1.0+{name}")
    for module, package in packages.MODULES.items():
        text = packages.python_of(module, build, package, family=name)[f"{module}/_dist_info.py"].data.decode()
        assert not [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import)]
        values = {}
        exec(compile(text, "_dist_info.py", "exec"), values)
        assert values["AVAILABLE_TARGET_FAMILIES"] == values["LINUX_TARGET_FAMILIES"] == [name]
        assert values["THIS_TARGET_FAMILY"] == values["DEFAULT_TARGET_FAMILY"] == name
        assert values["packages"]()["device"].dist_name(name) == f"rocm-sdk-device-{name}"


def test_names_of_packages_follow_the_contract(sources):
    folder = sources()
    text = (
        "import sys; from rocm_sdk import _dist_info as d\np = d.packages()\n"
        "print(p['libraries'].platform_package(), p['profiler'].platform_package(), p['device'].dist_name('gfx942'))\n"
        "d.LIBRARIES_DIST_TEMPLATE, d.PY_PACKAGE_SUFFIX_NONCE = 'rocm-sdk-libraries-{target_family}', '_n1'\n"
        "p = d.packages()['libraries']\n"
        "print(p.dist_name('gfx94X-dcgpu'), p.pure_package('gfx94X-dcgpu'), p.platform_package('gfx94X-dcgpu'))"
    )
    done = subprocess.run([sys.executable, "-c", text], cwd=folder, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "_rocm_sdk_libraries _rocm_profiler rocm-sdk-device-gfx942",
        "rocm-sdk-libraries-gfx94X-dcgpu rocm_sdk_libraries_gfx94X_dcgpu _rocm_sdk_libraries_gfx94X_dcgpu_n1",
    ]


def test_every_script_of_the_table_is_a_function(sources):
    folder = sources()
    text = "import sys, importlib; c = importlib.import_module(sys.argv[1]); [getattr(c, n) for n in c._dist_info.SCRIPTS]; c.no_such_tool"
    for module in ("rocm_sdk_core", "rocm_profiler"):
        done = subprocess.run(
            [sys.executable, "-c", text, f"{module}._cli"], cwd=folder, capture_output=True, text=True
        )
        assert done.stderr.strip().endswith(f"AttributeError: module '{module}._cli' has no attribute 'no_such_tool'")
    for row in packages.facts("sdk-scripts"):
        assert row["function"].isidentifier() and not row["script"].startswith("roc-obj")


def test_the_sources_are_strictly_typed(sources):
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not installed")
    argv = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--no-error-summary",
        "--cache-dir",
        str(sources().parent / "cache"),
    ]
    for platform in ("linux", "win32"):
        named = [word for module in packages.MODULES for word in ("-p", module)]
        done = subprocess.run([*argv, "--platform", platform, *named], cwd=sources(), capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_sources_are_tidy(tmp_path):
    if importlib.util.find_spec("ruff") is None:
        pytest.skip("ruff is not installed")
    paths = [packages.TEMPLATES, packages.REPOSITORY / "tests/python"]
    shared = ["--no-cache", "--line-length", "120"]
    rules = ["--isolated", "--target-version", "py38", "--select", "E,F,W,I,B,UP,SIM", "--ignore", "E501,UP"]
    for argv in (["check", *rules], ["format", "--check", "--isolated"]):
        done = subprocess.run([sys.executable, "-m", "ruff", *argv, *shared, *paths], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


def test_every_line_end_is_that_of_unix():
    for path in packages.TEMPLATES.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            assert b"\r" not in path.read_bytes(), path


def test_old_pythons_can_read_the_sources(sources):
    """Nothing of the SDK needs more than Python 3.8, and its packages say so."""
    python = shutil.which("python3.8")
    folder = sources()
    for path in folder.rglob("*.py"):
        ast.parse(path.read_text("utf-8"), feature_version=(3, 8))
    if python is not None and subprocess.run([python, "-c", ""], capture_output=True).returncode == 0:
        text = "import rocm_sdk.__main__, rocm_sdk_core._cli, rocm_profiler._cli, rocm_sdk.tests.devel_test"
        subprocess.run([python, "-B", "-c", text], cwd=folder, check=True)
