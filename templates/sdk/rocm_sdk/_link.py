"""How a file that another package owns appears in the development tree.

As a hard link, unless the variable `ROCM_SDK_DEVEL_LINK` says otherwise.
A program must find itself in the tree it was called in, and `/proc/self/exe` tells where a symbolic link leads to.
A hard link needs no second copy, and no rights that Windows asks for.
Copies are for images whose layers would double hard links; symbolic links are for trees that only headers and libraries
are read from, and dangle when the packages they lead to go first.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

_MODES = ("hardlink", "symlink", "copy")


def mode() -> str:
    """What the variable asks for. Raises ValueError for a word that is none of the choices."""
    word = os.environ.get("ROCM_SDK_DEVEL_LINK", "").strip() or _MODES[0]
    if word not in _MODES:
        raise ValueError(f"ROCM_SDK_DEVEL_LINK is {word!r}; the choices are: {', '.join(_MODES)}")
    return word


def clear(path: Path) -> None:
    """Removes what is there. Writing into it instead would change the file of the package that it is a link to."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    elif os.path.lexists(path):
        path.unlink()


def is_inside(site: Path, path: Path, text: str) -> bool:
    """Whether a link text leads to something below a folder, by what is written."""
    return os.path.normpath(path.parent / text).startswith(os.path.normpath(site) + os.sep)


def place(path: Path, text: str, how: str) -> None:
    """Makes the file that a link text leads to appear at a path: the file is there, and nothing is at the path."""
    # The file itself: a hard link to a symbolic link would be a symbolic link.
    target = os.path.realpath(path.parent / text)
    if how == "symlink":
        os.symlink(text, path)
        return
    if how == "hardlink":
        try:
            return os.link(target, path)
        except OSError:
            # Another file system, one without hard links, or too many of them. A copy keeps the promise, too.
            pass
    shutil.copy2(target, path)


def is_placed(path: Path, text: str, how: str) -> bool:
    """Whether the path is already as `place` would leave it."""
    if how == "symlink":
        return path.is_symlink() and os.readlink(path) == text
    try:
        own, target = os.lstat(path), os.stat(path.parent / text)
    except OSError:
        return False
    is_copy = (own.st_mode, own.st_size, own.st_mtime_ns) == (target.st_mode, target.st_size, target.st_mtime_ns)
    return os.path.samestat(own, target) or is_copy
