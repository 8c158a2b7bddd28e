"""What an unpacked tree holds, and the way that upstream unpacks one."""

from __future__ import annotations

import io
import os
import shutil
import tarfile
from pathlib import Path
from typing import Any, Dict


def tree_of(root: Path) -> Dict[str, Any]:
    """All files, and what they are: their content or where they lead, and whether they are shared with a package."""
    found = {}
    for folder, folders, files in os.walk(root):
        for name in [*files, *folders]:
            path = os.path.join(folder, name)
            kind = os.readlink(path) if os.path.islink(path) else os.path.isdir(path) or Path(path).read_bytes()
            found[os.path.relpath(path, root)] = (kind, os.path.isfile(path) and os.lstat(path).st_nlink > 1)
    return found


def wiping(data: bytes, site: Path) -> None:
    """Unpacks as upstream does: a folder is deleted the first time that something is met in it."""
    met = set()
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        for member in tar:
            path = site / member.name
            if path.parent not in met:
                met.add(path.parent)
                shutil.rmtree(path.parent, ignore_errors=True)
                path.parent.mkdir(parents=True, exist_ok=True)
            if member.isdir():
                path.mkdir(exist_ok=True)
            elif member.issym():
                target = path.parent / member.linkname
                is_driver = path.parent.name == "bin" and path.name.startswith("amd")
                if target.is_file() and not is_driver:
                    os.link(target.resolve(), path)
                else:
                    os.symlink(member.linkname, path)
            else:
                content = tar.extractfile(member)
                path.write_bytes(content.read() if content else b"")
