"""The command `rocm-sdk`, also `python -m rocm_sdk`.

What it prints on stdout is for scripts to take; everything else goes to stderr.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import List, Optional

from . import __version__, _devel
from ._installed import is_installed, platform_dir

# Where the build lists its targets, in the runtime package.
_DIST_INFO_JSON = "share/therock/dist_info.json"


def _path(arguments: argparse.Namespace) -> int:
    print(_devel.root().joinpath(*arguments.below))
    return 0


def _init(arguments: argparse.Namespace) -> int:
    root = _devel.root()
    if not arguments.quiet:
        print(root)
    return 0


def _version(_: argparse.Namespace) -> int:
    print(__version__)
    return 0


def _targets(_: argparse.Namespace) -> int:
    path: Path = platform_dir("core") / _DIST_INFO_JSON
    try:
        targets = json.loads(path.read_text("utf-8"))["dist_amdgpu_targets"]
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} names no targets: {error!r}") from error
    print(targets)
    return 0


def _test(_: argparse.Namespace) -> int:
    # Slow to import, and no other command needs it: builds run those many times.
    import unittest

    names = ["base", "core", *(name for name in ("libraries", "devel", "profiler") if is_installed(name))]
    suite = unittest.defaultTestLoader.loadTestsFromNames([f"{__package__}.tests.{name}_test" for name in names])
    return 0 if unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful() else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="rocm-sdk", description="Tells where the packages of the ROCm SDK put things."
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)

    path = commands.add_parser("path", help="print a folder of the development files; unpacks them the first time")
    path.set_defaults(run=_path)
    which = path.add_mutually_exclusive_group(required=True)
    for option, below in (("cmake", ("lib", "cmake")), ("bin", ("bin",)), ("root", ())):
        what = "/".join(below) or "the folder of it all"
        which.add_argument(f"--{option}", dest="below", action="store_const", const=below, help=what)

    init = commands.add_parser("init", help="unpack the development files, and link those of device packages")
    init.add_argument("--quiet", action="store_true", help="do not print their folder")
    init.set_defaults(run=_init)

    version = commands.add_parser("version", help="print the version")
    version.set_defaults(run=_version)
    targets = commands.add_parser("targets", help="print the GPU targets that the SDK was built for")
    targets.set_defaults(run=_targets)
    test = commands.add_parser("test", help="check the installed packages")
    test.set_defaults(run=_test)
    return parser


def main(argv: Optional[List[str]] = None) -> int:
    arguments = _parser().parse_args(argv)
    try:
        code: int = arguments.run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        # Who asked has read enough. Python would complain when it flushes once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (ImportError, OSError, ValueError) as error:
        print(f"rocm-sdk: {error}", file=sys.stderr)
        return 1
    return code


if __name__ == "__main__":
    sys.exit(main())
