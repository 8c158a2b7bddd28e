"""What this distribution of the ROCm SDK is made of.

The same file is in every package of it.
The build appends assignments to this text: the values of one build, as literals that no name can break out of.
What stands here before them is what an unbuilt tree has, so that the sources can be imported and checked as they are.

Only the interpreter's own `typing` is imported: every start of a compiler passes through here.
"""

from __future__ import annotations

from typing import Dict, List, NamedTuple

__version__ = "0.dev0"
# Ends the names of platform packages, where two builds share one environment.
PY_PACKAGE_SUFFIX_NONCE = ""
# The package that holds this file by its short name, and the GPUs it is for; empty: any.
THIS_PACKAGE_ENTRY = "meta"
THIS_TARGET_FAMILY = ""

# Without `{target_family}` the package is the same for all GPUs, and device packages bring what is for one.
LIBRARIES_DIST_TEMPLATE = "rocm-sdk-libraries-{target_family}"
# What the packages are built for: target families, or single targets where device packages are apart.
DEFAULT_TARGET_FAMILY = ""
AVAILABLE_TARGET_FAMILIES: List[str] = []
# Both are empty where one platform alone was asked for; else what is published for each.
LINUX_TARGET_FAMILIES: List[str] = []
WINDOWS_TARGET_FAMILIES: List[str] = []

# Short name of a library: `package`, `dir`, and the globs `so` and `dll`; one that a platform does not have is not there.
LIBRARIES: Dict[str, Dict[str, str]] = {}
# Libraries that a build may do without.
OPTIONAL_LIBRARIES: List[str] = []
# Function behind a console script of this package: the path of its program.
SCRIPTS: Dict[str, str] = {}
# Those functions that want the development files, where they are installed.
EXPANDING_SCRIPTS: List[str] = []


class PackageEntry(NamedTuple):
    """A package of the SDK beside `rocm` itself."""

    logical_name: str
    # The project's name, perhaps with `{target_family}` in it.
    dist_template: str
    # The extra of `rocm` that brings it; empty: `rocm` always does.
    extra: str

    @property
    def is_per_target(self) -> bool:
        return "{target_family}" in self.dist_template

    def dist_name(self, target_family: str = "") -> str:
        """The project's name, `rocm-sdk-core`."""
        return self.dist_template.replace("{target_family}", target_family)

    def pure_package(self, target_family: str = "") -> str:
        """The module that says the version, `rocm_sdk_core`."""
        return self.dist_name(target_family).replace("-", "_")

    def platform_package(self, target_family: str = "") -> str:
        """The folder with the files of the SDK, `_rocm_sdk_core`."""
        return "_" + self.pure_package(target_family) + PY_PACKAGE_SUFFIX_NONCE


def packages() -> Dict[str, PackageEntry]:
    """All packages by short name. A function, because what the build appends decides on one of them."""
    entries = (
        PackageEntry("core", "rocm-sdk-core", ""),
        PackageEntry("libraries", LIBRARIES_DIST_TEMPLATE, "libraries"),
        PackageEntry("device", "rocm-sdk-device-{target_family}", "device"),
        PackageEntry("devel", "rocm-sdk-devel", "devel"),
        PackageEntry("profiler", "rocm-profiler", "profiler"),
    )
    return {entry.logical_name: entry for entry in entries}


def is_kpack_split() -> bool:
    """Whether code for GPUs is in device packages of its own."""
    return not packages()["libraries"].is_per_target
