"""The runtime package."""

from __future__ import annotations

import importlib
import os
import unittest

import rocm_sdk
from rocm_sdk import _installed, tests


class Core(unittest.TestCase):
    def test_the_version_is_that_of_the_sdk(self) -> None:
        self.assertEqual(importlib.import_module("rocm_sdk_core").__version__, rocm_sdk.__version__)

    def test_the_files_are_there(self) -> None:
        self.assertTrue((_installed.platform_dir("core") / "__init__.py").is_file())

    def test_each_library_loads(self) -> None:
        self.assertEqual(tests.faults_of_loading("core"), [])

    def test_each_script_has_a_program(self) -> None:
        scripts = importlib.import_module("rocm_sdk_core._dist_info").SCRIPTS
        self.assertNotEqual(scripts, {})
        cli, core = importlib.import_module("rocm_sdk_core._cli"), _installed.platform_dir("core")
        for function, path in scripts.items():
            with self.subTest(function):
                self.assertTrue(callable(getattr(cli, function)))
                program = core / (path + ".exe" if os.name == "nt" else path)
                self.assertTrue(os.access(program, os.X_OK), f"{program} is not there or cannot be run")
