"""Finds and loads what the packages of the ROCm SDK installed.

A package that links to ROCm calls `initialize_process` before it loads its extensions.
"""

from ._dist_info import __version__ as __version__
from ._libraries import find_libraries as find_libraries
from ._libraries import preload_libraries as preload_libraries
from ._process import initialize_process as initialize_process

__all__ = ["__version__", "find_libraries", "initialize_process", "preload_libraries"]
