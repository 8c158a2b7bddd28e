"""Console scripts of the profilers: each becomes the program of its name, with the environment it needs.

The environment is changed for the program only, never for the process that asked.
"""

from __future__ import annotations

import os
from typing import Callable, Dict, NoReturn, Sequence

from . import _dist_info, _trampoline

_SITE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def _folder(logical_name: str) -> str:
    return os.path.join(_SITE, _dist_info.packages()[logical_name].platform_package())


def with_first(paths: str, first: Sequence[str]) -> str:
    """A list of paths with these in front, each once. An empty part would mean the working directory, and goes."""
    own = [path for path in paths.split(os.pathsep) if path and path not in first]
    return os.pathsep.join([*dict.fromkeys(first), *own])


def environment(outer: Dict[str, str]) -> Dict[str, str]:
    """The environment of a profiler that is started from this one."""
    profiler, core = _folder("profiler"), _folder("core")
    libraries = [os.path.join(profiler, "lib"), os.path.join(core, "lib", "rocm_sysdeps", "lib")]
    modules = [os.path.join(profiler, "libexec", "rocprofiler-compute")]
    return {
        **outer,
        "LD_LIBRARY_PATH": with_first(outer.get("LD_LIBRARY_PATH", ""), libraries),
        "PYTHONPATH": with_first(outer.get("PYTHONPATH", ""), modules),
    }


def __getattr__(name: str) -> Callable[[], NoReturn]:
    """The function of a console script. They differ in their row of the table only."""
    if name not in _dist_info.SCRIPTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def script() -> NoReturn:
        program = _trampoline.program_in([_folder("profiler")], _dist_info.SCRIPTS[name])
        _trampoline.become(program, environment(dict(os.environ)))

    return script
