"""Tries the built wheel on a machine that may have no GPU: it counts devices, or says that there is none."""

import rmx_vecadd

try:
    print("devices:", rmx_vecadd.device_count())
except RuntimeError as error:
    if "device" not in str(error).lower():
        raise
    print("it runs, and there is no device:", error)
