"""The development files. The first run unpacks them."""

from __future__ import annotations

import importlib
import os
import unittest
from pathlib import Path
from typing import Iterator, List

import rocm_sdk
from rocm_sdk import _devel, _devices, _installed, _link, _record, tests


def _files(root: Path) -> Iterator[str]:
    """Everything below a folder that is not itself a folder, relative to the folder above it."""
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name != "__pycache__"]
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        for name in [*files, *links]:
            yield (Path(folder) / name).relative_to(root.parent).as_posix()


class Devel(unittest.TestCase):
    root: Path
    devel: _devel.Devel

    @classmethod
    def setUpClass(cls) -> None:
        done = tests.rocm_sdk("path", "--root")
        if done.returncode != 0:
            raise AssertionError(f"rocm-sdk path --root: {done.stderr}")
        cls.root, cls.devel = Path(done.stdout.strip()), _devel.installed()

    def test_the_version_is_that_of_the_sdk(self) -> None:
        self.assertEqual(importlib.import_module("rocm_sdk_devel").__version__, rocm_sdk.__version__)

    def test_folders_are_below_the_root(self) -> None:
        for option, below in (("--bin", ["bin"]), ("--cmake", ["lib", "cmake"])):
            self.assertEqual(tests.rocm_sdk("path", option).stdout.strip(), str(self.root.joinpath(*below)))

    def test_nothing_is_left_packed(self) -> None:
        self.assertEqual(self.devel.root, self.root)
        self.assertTrue(self.devel.is_expanded)

    def test_asking_again_changes_nothing(self) -> None:
        records = [self.devel.record, *(device.record for device in _devices.installed(self.devel.site))]
        before = [(record.read_bytes(), record.stat().st_mtime_ns) for record in records]
        self.assertEqual(tests.rocm_sdk("init").stdout.strip(), str(self.root))
        self.assertEqual([(record.read_bytes(), record.stat().st_mtime_ns) for record in records], before)

    def test_an_uninstall_would_take_every_file(self) -> None:
        listed = _record.names(self.devel.record)
        for device in _devices.installed(self.devel.site):
            listed |= _record.names(device.record)
        self.assertEqual([name for name in _files(self.root) if name not in listed], [])

    @unittest.skipIf(_link.mode() != "hardlink", "the files of other packages are not hard links here")
    def test_files_of_the_runtime_are_the_same_files(self) -> None:
        core = _installed.platform_dir("core")
        apart: List[str] = []
        for path in sorted(core.glob("lib/*.so*")):
            twin = self.root / path.relative_to(core)
            if twin.exists() and not os.path.samefile(path, twin):
                apart.append(path.name)
        self.assertEqual(apart, [])
