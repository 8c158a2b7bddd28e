"""Unpacks the development files, once, in a way that a killed process cannot spoil.

A wheel cannot hold links, so the devel package holds a tarball. It is unpacked beside the other packages:

1. The list of installed files gets the tree as a whole, before any of it exists: an uninstall takes whatever is there.
2. What an earlier try left goes away, and the members are written. Links to files become hard links.
3. The list gets every member.
4. The tarball goes. The tree is complete exactly while no tarball is there, so that a kill before this starts over.

All of it under a lock, so that of several processes one unpacks and the others wait.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Dict, List, NamedTuple, Optional, Tuple

from . import _devices, _dist_info, _link, _record
from ._installed import pure_dir
from ._lock import exclusive

if TYPE_CHECKING:
    import tarfile

# Compilers of LLVM under names in another folder. They look for the rest of LLVM beside the file that the link leads to,
# so that a hard link would have them look beside itself.
_DRIVERS = ("amdclang", "amdclang++", "amdclang-cl", "amdclang-cpp", "amdflang", "amdlld", "amdllvm")
_BLOCK = 1 << 20


class Devel(NamedTuple):
    """An installed devel package: the folder of its module, and the tree that it unpacks to."""

    package: Path
    root: Path

    @property
    def site(self) -> Path:
        return self.root.parent

    @property
    def lock(self) -> Path:
        return self.package / "__init__.py"

    @property
    def tarball(self) -> Optional[Path]:
        candidates = (self.package / "_devel.tar", self.package / "_devel.tar.xz")
        return next((path for path in candidates if os.path.lexists(path)), None)

    @property
    def is_expanded(self) -> bool:
        return self.tarball is None and (self.root / "__init__.py").is_file()

    @property
    def record(self) -> Path:
        found = sorted(self.site.glob(f"{self.package.name}-*.dist-info/RECORD"))
        if not found:
            raise ImportError(
                f"{self.site} has no RECORD of rocm-sdk-devel, so what is unpacked could never be uninstalled; "
                "a package of the system must bring the development files unpacked"
            )
        return found[0]


def installed() -> Devel:
    """The devel package. Raises ModuleNotFoundError where there is none."""
    package = pure_dir("devel")
    return Devel(package, package.parent / _dist_info.packages()["devel"].platform_package())


def root() -> Path:
    """The complete tree: unpacked if it was not, and with the links of device packages that came or went since."""
    devel = installed()
    if not devel.is_expanded:
        with exclusive(devel.lock):
            # Another process may have done it meanwhile.
            if not devel.is_expanded:
                _expand(devel)
    _devices.reconcile(devel.site, devel.root, devel.lock)
    return devel.root


def _expand(devel: Devel) -> None:
    # Slow to import, and needed once.
    import tarfile

    tarball, record, how = devel.tarball, devel.record, _link.mode()
    if tarball is None:
        raise FileNotFoundError(
            f"{devel.package} has no tarball and {devel.root} is incomplete: reinstall rocm-sdk-devel"
        )
    listed, size = _record.size_of(record, tarball.relative_to(devel.site).as_posix()), tarball.stat().st_size
    if listed not in (None, size):
        # A tarball may end anywhere and still be read as whole.
        raise ValueError(f"{tarball} has {size} bytes instead of {listed}: reinstall rocm-sdk-devel")
    _record.claim(record, devel.root.name)
    _link.clear(devel.root)
    try:
        # One pass: a compressed tarball is read once.
        with tarfile.open(tarball, "r|*", bufsize=_BLOCK) as tar:
            names = _extract(tar, devel, how)
    except (tarfile.TarError, EOFError) as error:
        raise ValueError(f"{tarball} is damaged, reinstall rocm-sdk-devel: {error}") from error
    _record.add(record, names, devel.root)
    tarball.unlink()


def _extract(tar: tarfile.TarFile, devel: Devel, how: str) -> List[str]:
    """Writes the members and returns their names."""
    names: List[str] = []
    links: Dict[Path, str] = {}
    for member in tar:
        names.append(_checked(member.name, devel.root.name))
        path = devel.site / member.name
        path.parent.mkdir(parents=True, exist_ok=True)
        if member.isdir():
            path.mkdir(exist_ok=True)
            continue
        # The same name twice: the later one counts, as in any tarball.
        _link.clear(path)
        links.pop(path, None)
        if member.issym():
            links[path] = member.linkname
        elif member.isreg():
            _write(tar, member, path)
        else:
            raise ValueError(f"{devel.tarball}: {member.name} is neither a file, a folder nor a symbolic link")
    _place(list(links.items()), devel, how)
    return names


def _checked(name: str, root: str) -> str:
    """A name that stays below the root."""
    parts = name.split("/")
    if parts[0] != root or not set(parts).isdisjoint({"", ".", ".."}) or "\\" in name or "\0" in name:
        raise ValueError(f"{name!r} is no path below {root}")
    return name


def _write(tar: tarfile.TarFile, member: tarfile.TarInfo, path: Path) -> None:
    source = tar.extractfile(member)
    if source is None:
        raise ValueError(f"{member.name} has no content")
    with source, open(path, "wb") as file:
        shutil.copyfileobj(source, file, _BLOCK)
    path.chmod(member.mode & 0o777)
    os.utime(path, (member.mtime, member.mtime))


def _place(links: List[Tuple[Path, str]], devel: Devel, how: str) -> None:
    """Makes the links, whatever order they came in: one may lead to another that is not there yet."""
    while links:
        waiting = [link for link in links if not _is_made(*link, devel, how)]
        if len(waiting) == len(links):
            break
        links = waiting
    for path, text in links:
        # It leads nowhere: its package is not installed, and may be later. Windows makes no such link.
        if os.name != "nt":
            os.symlink(text, path)


def _is_made(path: Path, text: str, devel: Devel, how: str) -> bool:
    target = path.parent / text
    if not target.exists():
        return False
    if (
        target.is_dir()
        or not _link.is_inside(devel.site, path, text)
        or _is_driver(path.relative_to(devel.root).as_posix())
    ):
        os.symlink(text, path, target_is_directory=target.is_dir())
    else:
        _link.place(path, text, how)
    return True


def _is_driver(relative: str) -> bool:
    path = PurePosixPath(relative)
    return os.name != "nt" and path.parent.as_posix() == "bin" and path.name in _DRIVERS
