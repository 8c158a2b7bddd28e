"""The math and communication libraries of ROCm. Their files are in the platform package beside this one."""

from ._dist_info import __version__ as __version__
