"""Keeps the answers of other programs between runs, in the cache directory.

The answer of a program to a wheel depends on the program, on the wheel and on the libraries of this machine alone. All
of them are in the name that an answer is kept under. An answer of the program under test is never kept.
"""

import contextlib
import hashlib
import json
import os
import pathlib
import shutil
import sys
import tempfile
import time

# Seconds after which an answer that no run has read is removed.
KEPT_SECONDS = 30 * 24 * 3600


class KeptAnswers:
    """The answers in a directory, for one set of programs: `programs` are their names and versions."""

    def __init__(self, folder, programs):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.programs = digest(sys.version, *sorted(programs), *machine())
        limit = time.time() - KEPT_SECONDS
        for path in self.folder.iterdir():
            # Another stage may remove it at the same time.
            with contextlib.suppress(FileNotFoundError):
                if path.stat().st_mtime < limit:
                    shutil.rmtree(path) if path.is_dir() else path.unlink()

    def place(self, *question):
        return self.folder / digest(self.programs, *question)

    def read(self, *question):
        """The document that is kept for a question; None where there is none."""
        try:
            text = self.used(self.place(*question)).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        return json.loads(text)

    def keep(self, document, *question):
        with self.unfinished() as temporary:
            file = temporary / "document"
            file.write_text(json.dumps(document), encoding="utf-8")
            os.replace(file, self.place(*question))

    def copy_to(self, place, *question):
        """Copies the directory that is kept for a question; returns whether there is one."""
        try:
            shutil.copytree(self.used(self.place(*question)), place, symlinks=True, dirs_exist_ok=True)
        except FileNotFoundError:
            return False
        return True

    def keep_directory(self, place, names, *question):
        """Keeps those of the named files and directories of a directory that are there."""
        with self.unfinished() as temporary:
            directory = temporary / "directory"
            directory.mkdir()
            for path in filter(os.path.exists, (place / name for name in names)):
                if path.is_dir():
                    shutil.copytree(path, directory / path.name, symlinks=True)
                else:
                    shutil.copy2(path, directory)
            # Another run may have been faster.
            with contextlib.suppress(OSError):
                os.rename(directory, self.place(*question))

    def used(self, path):
        """The path, whose time becomes that of its last use."""
        os.utime(path)
        return path

    @contextlib.contextmanager
    def unfinished(self):
        """A directory beside the answers, from which a file can be renamed to one."""
        with tempfile.TemporaryDirectory(dir=self.folder, prefix=".unfinished-") as folder:
            yield pathlib.Path(folder)


def digest(*parts):
    """A name of texts and bytes: equal for equal ones alone."""
    hashed = hashlib.sha256()
    for part in parts:
        content = part if isinstance(part, bytes) else str(part).encode("utf-8", "surrogateescape")
        hashed.update(len(content).to_bytes(8, "little") + content)
    return hashed.hexdigest()


def machine():
    """The packages of this machine and what its loader finds, as bytes."""
    for path in ["/var/lib/dpkg/status", "/etc/ld.so.cache"]:
        try:
            yield pathlib.Path(path).read_bytes()
        except FileNotFoundError:
            yield b""
