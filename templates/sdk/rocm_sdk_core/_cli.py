"""Console scripts of the runtime: each becomes the program of its name.

A compiler wants the development files around it: it finds headers by where it lies.
So a script that is marked for it unpacks them first, where they are installed; the others use what is there.
"""

from __future__ import annotations

import os
import sys
from typing import Callable, List, NoReturn

from . import _dist_info, _trampoline

_SITE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def _folder(logical_name: str) -> str:
    return os.path.join(_SITE, _dist_info.packages()[logical_name].platform_package())


def _packed() -> List[str]:
    package = os.path.join(_SITE, _dist_info.packages()["devel"].pure_package())
    return [name for name in ("_devel.tar", "_devel.tar.xz") if os.path.exists(os.path.join(package, name))]


def _expand() -> None:
    """Unpacks the development files. Without them the runtime serves, so a fault is told and no more."""
    try:
        # In this process: another interpreter would cost its start, and look for modules in the working directory.
        from rocm_sdk import _devel

        _devel.root()
    except (ImportError, OSError, ValueError) as error:
        print(f"rocm-sdk: going on without the development files: {error}", file=sys.stderr)


def roots(expands: bool) -> List[str]:
    """Where to look for a program, best first."""
    devel = _folder("devel")
    packed = _packed()
    if packed and expands:
        _expand()
        packed = _packed()
    is_expanded = not packed and os.path.isfile(os.path.join(devel, "__init__.py"))
    return [devel, _folder("core")] if is_expanded else [_folder("core")]


def __getattr__(name: str) -> Callable[[], NoReturn]:
    """The function of a console script. They differ in their row of the table only."""
    if name not in _dist_info.SCRIPTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def script() -> NoReturn:
        found = roots(name in _dist_info.EXPANDING_SCRIPTS)
        _trampoline.become(_trampoline.program_in(found, _dist_info.SCRIPTS[name]))

    return script
