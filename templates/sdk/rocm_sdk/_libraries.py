"""Libraries by short name: their paths, and loading them before somebody needs them."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Dict, List, Optional

from . import _dist_info
from ._installed import platform_dir

# A handle that nobody holds may be closed; these live as long as the process.
_loaded: Dict[str, ctypes.CDLL] = {}


def _find(shortname: str) -> Optional[Path]:
    """The path, or None for what this platform does not have and for an optional library that is not there."""
    try:
        row = _dist_info.LIBRARIES[shortname]
    except KeyError:
        known = ", ".join(sorted(_dist_info.LIBRARIES))
        raise ModuleNotFoundError(f"the ROCm SDK knows no library {shortname!r}; it knows: {known}") from None
    is_windows = os.name == "nt"
    pattern = row.get("dll" if is_windows else "so")
    if pattern is None:
        return None
    folder = platform_dir(row["package"]) / ("bin" if is_windows else row["dir"])
    # Another name of a library ends in `.so`; where both are there, the library itself is meant.
    found = sorted((path.suffix == ".so", path) for path in folder.glob(pattern) if path.is_file())
    if found:
        return found[0][1]
    if shortname in _dist_info.OPTIONAL_LIBRARIES:
        return None
    raise FileNotFoundError(f"the library {shortname!r} of the ROCm SDK is missing: no {pattern} in {folder}")


def find_libraries(*shortnames: str) -> List[Path]:
    """The absolute paths of libraries, in the order asked.

    Raises ModuleNotFoundError for a name that the SDK does not know and for a package that is not installed,
    FileNotFoundError for a library that its package should have.
    Left out: libraries that this platform does not have, and optional ones that are not there.
    """
    return [path for path in map(_find, shortnames) if path is not None]


def preload_libraries(*shortnames: str, rtld_global: bool = True) -> None:
    """Loads libraries for the rest of the process, in the order asked; each once."""
    mode = ctypes.RTLD_GLOBAL if rtld_global else ctypes.RTLD_LOCAL
    for shortname in shortnames:
        if shortname not in _loaded:
            for path in find_libraries(shortname):
                _loaded[shortname] = ctypes.CDLL(str(path), mode=mode)
