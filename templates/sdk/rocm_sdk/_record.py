"""The list of installed files, to which unpacked ones are added so that an uninstall takes them."""

from __future__ import annotations

import csv
import io
import os
import shutil
from pathlib import Path
from typing import Iterable, List, Optional, Set


def _rows(record: Path) -> List[List[str]]:
    with open(record, encoding="utf-8", newline="") as file:
        return [row for row in csv.reader(file) if row]


def names(record: Path) -> Set[str]:
    """The paths that a RECORD lists, relative to the folder of its dist-info."""
    return {row[0] for row in _rows(record)}


def size_of(record: Path, name: str) -> Optional[int]:
    """How large a file is, as listed; None where the list does not say."""
    sizes = [row[2] for row in _rows(record) if row[0] == name and len(row) == 3]
    return int(sizes[0]) if sizes and sizes[0].isdigit() else None


def missing(record: Path, wanted: Iterable[str]) -> List[str]:
    """Those of the paths that are not listed, each once, in order."""
    listed = names(record)
    return [name for name in dict.fromkeys(wanted) if name not in listed]


def _added(text: str, new: Iterable[str]) -> str:
    """What to append to a list, its rows unchanged."""
    rows = io.StringIO()
    csv.writer(rows, lineterminator="\n").writerows((name, "", "") for name in new)
    return ("" if not text or text.endswith("\n") else "\n") + rows.getvalue()


def claim(record: Path, name: str) -> None:
    """Lists one path in place: a row is written at once or not at all."""
    new = missing(record, [name])
    if new:
        text = record.read_text("utf-8")
        with open(record, "ab", buffering=0) as file:
            file.write(_added(text, new).encode("utf-8"))


def add(record: Path, wanted: Iterable[str], scratch: Path) -> None:
    """Lists the paths that are not listed. The rows that are there keep their bytes.

    A copy is moved into place: a process that is killed leaves the old list or the whole new one, and an installer
    that keeps a link to the file in its cache keeps it unchanged. The copy is made in a folder that an uninstall takes.
    """
    new = missing(record, wanted)
    if not new:
        return
    text = record.read_bytes().decode("utf-8")
    copy = scratch / "RECORD.rocm-sdk"
    with open(copy, "w", encoding="utf-8", newline="") as file:
        file.write(text + _added(text, new))
    shutil.copymode(record, copy)
    os.replace(copy, record)
