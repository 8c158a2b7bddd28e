"""A lock between processes that leaves nothing behind, however they end."""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

if sys.platform == "win32":
    import msvcrt

    # Far behind the end of the file, so that reading it is never hindered.
    _AT = 1 << 30

    def _hold(handle: int) -> None:
        while True:
            os.lseek(handle, _AT, os.SEEK_SET)
            try:
                return msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
            except OSError:
                time.sleep(0.1)

else:
    import fcntl

    def _hold(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX)


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Waits until no other process holds the file, and holds it.

    The file is one that is there anyway and that nobody replaces: a lock file of our own would be in no RECORD, and
    an uninstall would leave it. The system lets go of the lock when the process ends, by whatever signal. The file is
    opened for writing although nobody writes it: a network file system grants this lock no other way.
    """
    try:
        handle = os.open(path, os.O_RDWR)
    except PermissionError as error:
        owner = f"only the owner of {path.parent} can unpack and link there: run `rocm-sdk init` as that user"
        raise PermissionError(f"{owner} ({error.strerror})") from error
    try:
        _hold(handle)
        yield
    finally:
        os.close(handle)
