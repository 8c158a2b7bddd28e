"""ROCm's profilers of systems and of kernels. They need the runtime package: install `rocm[profiler]`."""

from ._dist_info import __version__ as __version__
