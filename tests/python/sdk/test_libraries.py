"""`find_libraries`, `preload_libraries` and `initialize_process`, and the mistakes that upstream answers with a crash."""

import shutil
import subprocess
import sys

import packages
import pytest
from conftest import CLEAN


def test_paths_come_in_the_order_asked(installed):
    text = (
        "import rocm_sdk; print(*rocm_sdk.find_libraries('hipblas', 'amdhip64', 'rocm-openblas', 'miopen'), sep='\\n')"
    )
    assert installed.python_says(text).splitlines() == [
        f"{installed.site}/_rocm_sdk_libraries/lib/libhipblas.so.7",
        f"{installed.site}/_rocm_sdk_core/lib/libamdhip64.so.7",
        f"{installed.site}/_rocm_sdk_core/lib/host-math/lib/librocm-openblas.so.7",
        f"{installed.site}/_rocm_sdk_libraries/lib/libMIOpen.so.7",
    ]


def test_a_library_comes_before_another_name_of_it(installed):
    (installed.site / "_rocm_sdk_core/lib/libamdhip64.so").write_bytes(b"")
    path = installed.python_says("import rocm_sdk; print(*rocm_sdk.find_libraries('amdhip64'))")
    assert path.strip() == f"{installed.site}/_rocm_sdk_core/lib/libamdhip64.so.7"


def test_each_library_of_the_table_is_found(installed):
    names = sorted(set(packages.libraries()) - set(packages.optional_libraries()))
    found = installed.python_says(
        "import sys, rocm_sdk; print(*rocm_sdk.find_libraries(*sys.argv[1:]), sep='\\n')", *names
    )
    assert len(found.splitlines()) == len(names) == 27
    for name, path in zip(names, found.splitlines()):
        assert f"{name.lower()}." in path.lower().replace("libhipdnn_backend", "libhipdnn"), (name, path)


def test_one_that_may_be_absent_is_left_out(installed):
    assert installed.python_says("import rocm_sdk; print(rocm_sdk.find_libraries('rocdxg'))") == "[]"


def test_an_unknown_name_a_missing_package_and_a_missing_file_are_told_apart(environment):
    environment.install("rocm")
    ask = "import sys, rocm_sdk; rocm_sdk.find_libraries(sys.argv[1])"
    last = lambda name: environment.python_says(ask, name, code=1).splitlines()[-1]  # noqa: E731
    assert last("hipblass").startswith(
        "ModuleNotFoundError: the ROCm SDK knows no library 'hipblass'; it knows: amd_comgr, "
    )
    hint = f"is not installed: pip install 'rocm[libraries]=={packages.VERSION}'"
    assert last("hipblas") == f"ModuleNotFoundError: the package rocm-sdk-libraries of the ROCm SDK {hint}"
    (environment.site / "_rocm_sdk_core/lib/libhiprtc.so.7").unlink()
    folder = environment.site / "_rocm_sdk_core/lib"
    assert (
        last("hiprtc")
        == f"FileNotFoundError: the library 'hiprtc' of the ROCm SDK is missing: no libhiprtc.so* in {folder}"
    )


def test_files_of_a_device_package_are_no_libraries_package(installed):
    installed.pip("uninstall", "-q", "-y", "rocm-sdk-libraries")
    assert (installed.site / "_rocm_sdk_libraries").is_dir()
    told = installed.python_says("import rocm_sdk; rocm_sdk.find_libraries('hipblas')", code=1)
    assert "is not installed" in told


def test_a_lost_init_file_loses_no_library(installed):
    """Upstream's device packages own it too, and take it along."""
    (installed.site / "_rocm_sdk_libraries/__init__.py").unlink()
    installed.python_says("import rocm_sdk; rocm_sdk.find_libraries('hipblas')")


def test_on_windows_libraries_are_dlls_and_those_without_are_left_out(installed):
    library = installed.site / "_rocm_sdk_core/bin/amdhip64_7.dll"
    library.write_bytes(b"")
    text = (
        "import rocm_sdk, types\nfrom rocm_sdk import _libraries\n"
        "_libraries.os = types.SimpleNamespace(name='nt')\n"
        "print(*rocm_sdk.find_libraries('amdhip64', 'rccl', 'rocdecode', 'hipsparselt'))"
    )
    assert installed.python_says(text) == str(library)


LOADED = "sorted({line.split('/')[-1].strip() for line in open('/proc/self/maps') if '.so.7' in line})"


def test_preloading_loads_for_all_that_follow(installed):
    text = (
        "import ctypes, rocm_sdk\n"
        "rocm_sdk.initialize_process(preload_shortnames=['amdhip64', 'hipblas', 'rocdxg'], an_option_of_later='x')\n"
        f"print({LOADED}, ctypes.CDLL(None).rock_answer())"
    )
    assert installed.python_says(text) == "['libamdhip64.so.7', 'libhipblas.so.7'] 42"
    alone = text.replace("an_option_of_later='x'", "rtld_global=False").replace(
        "ctypes.CDLL(None).rock_answer()", "hasattr(ctypes.CDLL(None), 'rock_answer')"
    )
    assert installed.python_says(alone).endswith(" False")


def test_the_environment_adds_libraries(installed):
    text = f"import rocm_sdk; rocm_sdk.initialize_process(); print({LOADED})"
    assert (
        installed.python_says(text, ROCM_SDK_PRELOAD_LIBRARIES="hiprtc, ;hipfft;")
        == "['libhipfft.so.7', 'libhiprtc.so.7']"
    )
    assert installed.python_says(text, ROCM_SDK_PRELOAD_LIBRARIES="") == "[]"
    off = text.replace("initialize_process()", "initialize_process(env_override=False)")
    assert installed.python_says(off, ROCM_SDK_PRELOAD_LIBRARIES="hiprtc") == "[]"
    told = installed.python_says(text, code=1, ROCM_SDK_PRELOAD_LIBRARIES="hiprtcc")
    assert (
        "RuntimeError: cannot load what ROCM_SDK_PRELOAD_LIBRARIES names: the ROCm SDK knows no library 'hiprtcc'"
        in told
    )


@pytest.mark.parametrize(
    "expected, is_right",
    [
        ("'7.14.0.dev0'", True),
        ("'7.14.*'", True),
        ("'*'", True),
        ("re.compile(r'7\\.1[45]')", True),
        ("'7.14.0'", False),
        ("'7x14.0.dev0'", False),
        ("re.compile(r'8\\.')", False),
    ],
)
def test_the_version_is_compared(installed, expected, is_right):
    for strict in (False, True):
        text = f"import re, rocm_sdk; rocm_sdk.initialize_process(check_version={expected}, fail_on_version_mismatch={strict})"
        done = installed.run(str(installed.python), "-c", text, code=1 if strict and not is_right else 0)
        kind = "RuntimeError" if strict else "UserWarning"
        assert (f"{kind}: the ROCm SDK is 7.14.0.dev0, and this process expects" in done.stderr) == (not is_right)


def test_of_packages_by_family_the_installed_one_is_taken(sources, tmp_path, stand):
    """What was installed counts for more than what would be chosen today."""
    build = packages.Build(available=["gfx110X-all", "gfx94X-dcgpu"], default="gfx110X-all", is_kpack=False)
    folder = sources(build)
    shutil.rmtree(folder / "rocm_sdk_libraries")
    text = "import rocm_sdk; print(*rocm_sdk.find_libraries('hipblas'))"
    env = {**CLEAN, "PYTHONPATH": str(folder), "ROCM_SDK_SYSFS_ROOT": str(tmp_path)}

    def ask():
        done = subprocess.run([sys.executable, "-B", "-c", text], env=env, capture_output=True, text=True)
        return done.stdout.strip() or done.stderr.strip().splitlines()[-1]

    assert ask().endswith(
        "rocm-sdk-libraries-* of the ROCm SDK is not installed: pip install 'rocm[libraries]==7.14.0.dev0'"
    )
    for family in ("gfx94X-dcgpu", "gfx110X-all"):
        name = f"rocm_sdk_libraries_{family.replace('-', '_')}"
        tree = packages.python_of("rocm_sdk_libraries", build, "libraries", name, family)
        tree.update(packages.below(f"_{name}", stand.libraries()))
        packages.written(folder, tree)
        assert ask() == f"{folder}/_{name}/lib/libhipblas.so.7"
