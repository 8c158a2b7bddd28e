"""Prepares a process for extensions that link to ROCm."""

from __future__ import annotations

import os
import re
import warnings
from typing import Iterable, Optional, Pattern, Union

from ._dist_info import __version__
from ._libraries import preload_libraries

_PRELOAD = "ROCM_SDK_PRELOAD_LIBRARIES"


def _preload_from_environment(rtld_global: bool) -> None:
    names = [name.strip() for name in re.split("[,;]", os.environ.get(_PRELOAD, ""))]
    try:
        preload_libraries(*filter(None, names), rtld_global=rtld_global)
    except (ImportError, OSError) as error:
        raise RuntimeError(f"cannot load what {_PRELOAD} names: {error}") from error


def is_version(expected: Union[str, Pattern[str]]) -> bool:
    """Whether this is the expected version. In a text `*` stands for anything; a compiled pattern matches as it does."""
    if isinstance(expected, str):
        return re.fullmatch(re.escape(expected).replace(r"\*", ".*"), __version__) is not None
    return expected.match(__version__) is not None


def initialize_process(
    *,
    preload_shortnames: Optional[Iterable[str]] = None,
    rtld_global: bool = True,
    env_override: bool = True,
    check_version: Union[str, Pattern[str], None] = None,
    fail_on_version_mismatch: bool = False,
    **kwargs: object,
) -> None:
    """Loads libraries and compares the version, before extensions that were linked to them are loaded.

    Options that this version does not know are ignored: the caller may have been built for a later one.
    """
    preload_libraries(*(preload_shortnames or ()), rtld_global=rtld_global)
    if env_override:
        _preload_from_environment(rtld_global)
    if check_version is None or is_version(check_version):
        return
    expected = check_version if isinstance(check_version, str) else check_version.pattern
    message = f"the ROCm SDK is {__version__}, and this process expects {expected}"
    if fail_on_version_mismatch:
        raise RuntimeError(message)
    warnings.warn(message, stacklevel=2)
