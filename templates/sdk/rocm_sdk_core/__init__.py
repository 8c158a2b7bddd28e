"""The ROCm runtime and compilers. Their files are in the platform package beside this one; `rocm_sdk` finds them."""

from ._dist_info import __version__ as __version__
