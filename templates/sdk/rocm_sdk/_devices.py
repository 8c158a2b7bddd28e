"""Links in the development tree to the files of device packages.

Those are installed and removed at any time, also after the tree was unpacked.
Each has a manifest of the links it wants. They are listed in its own RECORD, so that they go when it goes.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Iterator, List, NamedTuple, Tuple

from . import _dist_info, _link, _record
from ._lock import exclusive


class Device(NamedTuple):
    """An installed device package: its list of files, and the links that it wants, as (path in the tree, text)."""

    record: Path
    links: List[Tuple[str, str]]


def _without_post(version: str) -> str:
    """A rebuilt package of the same release fits; it differs in its post-release number alone."""
    return re.sub(r"\.post\d+", "", version)


def _manifest(path: Path) -> Iterator[Tuple[str, str]]:
    try:
        links = [(str(link["relpath"]), str(link["target"])) for link in json.loads(path.read_text("utf-8"))["links"]]
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is no list of links: {error!r}") from error
    for relpath, target in links:
        if not set(relpath.split("/")).isdisjoint({"", ".", ".."}) or "\\" in relpath:
            raise ValueError(f"{path}: {relpath!r} is no path below the development tree")
        yield relpath, target


def installed(site: Path) -> Iterator[Device]:
    """The device packages of this version beside the tree, in order of their names."""
    prefix = _dist_info.packages()["device"].pure_package()
    for dist_info in sorted(site.glob(f"{prefix}*-*.dist-info")):
        version = dist_info.name[: -len(".dist-info")].partition("-")[2]
        record = dist_info / "RECORD"
        if _without_post(version) != _without_post(_dist_info.__version__) or not record.is_file():
            continue
        manifests = sorted(name for name in _record.names(record) if re.search(r"/\.devel_links/[^/]+\.json$", name))
        yield Device(record, [link for name in manifests for link in _manifest(site / name)])


def _is_there(site: Path, path: Path, text: str) -> bool:
    """Whether a link leads to a file of a package beside the tree. Its own folder may not be there: the text is read."""
    return _link.is_inside(site, path, text) and os.path.isfile(os.path.normpath(path.parent / text))


def reconcile(site: Path, root: Path, lock: Path) -> None:
    """Makes the links of all device packages, and lists them. Where all is right nothing is written or locked."""
    how = _link.mode()
    for device in installed(site):
        # A package that is just being removed may have lost files: no link to those.
        links = [(root / relpath, text) for relpath, text in device.links if _is_there(site, root / relpath, text)]
        rows = [path.relative_to(site).as_posix() for path, _ in links]
        if all(_link.is_placed(*link, how) for link in links) and not _record.missing(device.record, rows):
            continue
        with exclusive(lock):
            _record.add(device.record, rows, root)
            for path, text in links:
                if not _link.is_placed(path, text, how):
                    path.parent.mkdir(parents=True, exist_ok=True)
                    _link.clear(path)
                    _link.place(path, text, how)
