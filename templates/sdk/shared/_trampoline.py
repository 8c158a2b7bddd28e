"""Becomes a program of the SDK: what console scripts end in."""

from __future__ import annotations

import os
import sys
from typing import Mapping, NoReturn, Optional, Sequence


def program_in(roots: Sequence[str], path: str) -> str:
    """The program below the first of the folders that has it; ends the process where none does."""
    if os.name == "nt":
        path = path.replace("/", os.sep) + ".exe"
    for root in roots:
        program = os.path.join(root, path)
        if os.path.isfile(program):
            return program
    sys.exit(f"{path} is not in {' or '.join(roots)}: this build of the SDK does not have it")


def become(program: str, env: Optional[Mapping[str, str]] = None) -> NoReturn:
    """Runs the program with the arguments of this process, in its place."""
    argv = [program, *sys.argv[1:]]
    env = os.environ if env is None else env
    if os.name == "nt":
        # `execv` there starts a second process and ends this one at once, so that a shell would not wait.
        import subprocess

        sys.exit(subprocess.call(argv, env=dict(env)))
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(program, argv, env)
