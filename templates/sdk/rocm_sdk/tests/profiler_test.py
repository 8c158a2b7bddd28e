"""The package of profilers."""

from __future__ import annotations

import importlib
import os
import unittest

import rocm_sdk
from rocm_sdk import _installed


class Profiler(unittest.TestCase):
    def test_the_version_is_that_of_the_sdk(self) -> None:
        self.assertEqual(importlib.import_module("rocm_profiler").__version__, rocm_sdk.__version__)

    def test_each_script_has_a_program(self) -> None:
        scripts = importlib.import_module("rocm_profiler._dist_info").SCRIPTS
        self.assertNotEqual(scripts, {})
        for function, path in scripts.items():
            with self.subTest(function):
                program = _installed.platform_dir("profiler") / path
                self.assertTrue(os.access(program, os.X_OK), f"{program} is not there or cannot be run")

    def test_programs_find_their_libraries_and_modules(self) -> None:
        cli, root = importlib.import_module("rocm_profiler._cli"), _installed.platform_dir("profiler")
        paths = cli.environment({"LD_LIBRARY_PATH": "/elsewhere"})
        self.assertEqual(paths["LD_LIBRARY_PATH"].split(os.pathsep)[0], str(root / "lib"))
        self.assertEqual(paths["LD_LIBRARY_PATH"].split(os.pathsep)[-1], "/elsewhere")
        self.assertEqual(paths["PYTHONPATH"], str(root / "libexec" / "rocprofiler-compute"))
        self.assertEqual(cli.environment(paths), paths)
