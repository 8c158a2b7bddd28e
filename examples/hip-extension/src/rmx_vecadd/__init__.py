"""Vector addition on an AMD GPU, and the count of GPUs there are.

Both raise `RuntimeError` with HIP's own words where there is no device:
the module imports on any machine that has the HIP runtime library.
"""

from ._vecadd import add, device_count

__all__ = ["add", "device_count"]
