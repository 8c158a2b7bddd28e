"""The package of libraries, and the device packages that add to it."""

from __future__ import annotations

import importlib
import unittest

import rocm_sdk
from rocm_sdk import _devices, _installed, tests


class Libraries(unittest.TestCase):
    def test_the_version_is_that_of_the_sdk(self) -> None:
        name = _installed.pure_dir("libraries").name
        self.assertEqual(importlib.import_module(name).__version__, rocm_sdk.__version__)

    def test_each_library_loads(self) -> None:
        self.assertEqual(tests.faults_of_loading("libraries"), [])

    def test_files_of_device_packages_are_there(self) -> None:
        root = _installed.platform_dir("libraries")
        for device in _devices.installed(root.parent):
            with self.subTest(device.record.parent.name):
                missing = [relpath for relpath, _ in device.links if not (root / relpath).is_file()]
                self.assertEqual(missing, [])
