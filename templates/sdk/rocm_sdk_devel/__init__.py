"""The development files of ROCm, packed: a wheel cannot hold links. `rocm-sdk init` unpacks them beside this package.

This file is also what processes lock while they unpack: it is there as long as the package is, and nobody writes it.
"""

from ._dist_info import __version__ as __version__
