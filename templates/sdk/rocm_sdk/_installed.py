"""Which packages of the SDK are installed, and where."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import List

from . import _dist_info
from ._target import target_family


def _families(entry: _dist_info.PackageEntry) -> List[str]:
    """The target families whose package may be there, best first; a neutral package has one name."""
    if not entry.is_per_target:
        return [""]
    # What was installed counts for more than what would be chosen today.
    return list(dict.fromkeys([target_family(), *_dist_info.AVAILABLE_TARGET_FAMILIES]))


def pure_dir(logical_name: str) -> Path:
    """The folder of the package's own module, which is there exactly while the package is installed.

    A platform folder does not tell: device packages put files into the one of the libraries.
    """
    entry = _dist_info.packages()[logical_name]
    for family in _families(entry):
        spec = importlib.util.find_spec(entry.pure_package(family))
        if spec is not None and spec.origin is not None:
            return Path(spec.origin).parent
    what = f"rocm[{entry.extra}]" if entry.extra else entry.dist_name()
    raise ModuleNotFoundError(
        f"the package {entry.dist_name('*')} of the ROCm SDK is not installed: pip install '{what}=={_dist_info.__version__}'"
    )


def platform_dir(logical_name: str) -> Path:
    """The folder with the files of the package. It lies beside its module, with or without an `__init__.py`."""
    module = pure_dir(logical_name)
    return module.parent / f"_{module.name}{_dist_info.PY_PACKAGE_SUFFIX_NONCE}"


def is_installed(logical_name: str) -> bool:
    try:
        pure_dir(logical_name)
    except ModuleNotFoundError:
        return False
    return True
