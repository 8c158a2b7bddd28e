"""Chooses, where `rocm` is installed, what it requires there.

A wheel would have the choice of the machine it was made on; that is why `rocm` is published as a source.
"""

import sys
from pathlib import Path
from typing import Dict, List

from setuptools import setup

SOURCES = Path(__file__).resolve().parent / "src"
sys.path.insert(0, str(SOURCES))
# Compiled files of this run would lie in the sources.
sys.dont_write_bytecode = True

from rocm_sdk import _dist_info  # noqa: E402
from rocm_sdk._target import target_family  # noqa: E402

PACKAGES = _dist_info.packages()
VERSION = _dist_info.__version__


def requirement(logical_name: str, family: str = "", marker: str = "") -> str:
    return f"{PACKAGES[logical_name].dist_name(family)}=={VERSION}{marker}"


def marker_of(target: str) -> str:
    """Limits a target to the one platform that it is published for, where the platforms differ."""
    linux, windows = _dist_info.LINUX_TARGET_FAMILIES, _dist_info.WINDOWS_TARGET_FAMILIES
    if not linux or not windows or (target in linux) == (target in windows):
        return ""
    return '; sys_platform == "linux"' if target in linux else '; sys_platform == "win32"'


def extras() -> Dict[str, List[str]]:
    """The extras: for the GPU of this machine, and for each that there are packages for."""
    per_target = "device" if _dist_info.is_kpack_split() else "libraries"
    neutral = [name for name in ("libraries", "devel", "profiler") if not PACKAGES[name].is_per_target]
    found = {name: [requirement(name)] for name in neutral}
    try:
        found[per_target] = [requirement(per_target, target_family())]
    except ValueError as error:
        # Those who ask for the libraries of one GPU must be told; others may not need the device package at all.
        if per_target == "libraries":
            raise SystemExit(f"rocm: {error}") from error
        print(f"rocm: there is no extra `device`: {error}", file=sys.stderr)
    available = _dist_info.AVAILABLE_TARGET_FAMILIES
    if len(available) > 1:
        single = {
            f"{per_target}-{target}": [requirement(per_target, target, marker_of(target))] for target in available
        }
        found.update(single)
        found[f"{per_target}-all"] = [line for lines in single.values() for line in lines]
    return found


setup(
    name="rocm",
    version=VERSION,
    description="The ROCm SDK: finds, loads and unpacks its packages",
    long_description=(SOURCES.parent / "README.md").read_text("utf-8"),
    long_description_content_type="text/markdown",
    python_requires=">=3.8",
    # Named one by one: what else lies in the folder of a build must never be taken for a package.
    package_dir={"": "src"},
    packages=["rocm_sdk", "rocm_sdk.tests"],
    package_data={"rocm_sdk": ["py.typed"]},
    install_requires=[requirement("core")],
    extras_require=extras(),
    entry_points={"console_scripts": ["rocm-sdk = rocm_sdk.__main__:main"]},
)
