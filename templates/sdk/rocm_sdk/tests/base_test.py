"""The command and the module `rocm_sdk`."""

from __future__ import annotations

import unittest
from pathlib import Path

import rocm_sdk
from rocm_sdk import _dist_info, _installed, tests


class Base(unittest.TestCase):
    def test_the_command_tells_the_version_of_the_module(self) -> None:
        self.assertEqual(tests.rocm_sdk("version").stdout.strip(), rocm_sdk.__version__)

    def test_packages_lie_beside_this_one(self) -> None:
        """They search libraries in one another, by paths relative to where they are found."""
        site = Path(rocm_sdk.__file__).parents[1]
        for name in ("core", "libraries", "devel", "profiler"):
            if _installed.is_installed(name):
                self.assertEqual(_installed.pure_dir(name).parent, site, name)

    def test_targets_are_told(self) -> None:
        done = tests.rocm_sdk("targets")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertNotEqual(done.stdout.strip(), "")

    def test_a_library_that_nobody_knows_is_told_apart(self) -> None:
        with self.assertRaisesRegex(ModuleNotFoundError, "no-such-library"):
            rocm_sdk.find_libraries("no-such-library")

    def test_a_library_of_a_missing_package_names_the_extra(self) -> None:
        for shortname, row in _dist_info.LIBRARIES.items():
            if not _installed.is_installed(row["package"]):
                with self.assertRaisesRegex(ModuleNotFoundError, r"rocm\["):
                    rocm_sdk.find_libraries(shortname)
