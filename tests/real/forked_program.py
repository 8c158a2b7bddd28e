"""Runs a Python program in a fork of this process, which has imported it: a new process needs most of its time for that.

As a script, runs pip with each list of arguments from the JSON on the standard input, and writes the exit status, the
standard output and the standard error of each run as JSON.
"""

import json
import os
import subprocess
import sys
import tempfile
import traceback

import pip._internal.cli.main
# pip imports a command when it is run.
import pip._internal.commands.download  # noqa: F401
import pip._internal.commands.install  # noqa: F401


def run_fork(main, program, argv, environment):
    """Runs `main` as a program with these arguments and this environment."""
    with tempfile.TemporaryFile("w+") as stdout, tempfile.TemporaryFile("w+") as stderr:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                os.dup2(stdout.fileno(), 1)
                os.dup2(stderr.fileno(), 2)
                os.environ.clear()
                os.environ.update(environment)
                sys.argv = [program, *(str(one) for one in argv)]
                code = main() or 0
            except SystemExit as exit:
                code = exit.code if isinstance(exit.code, int) else 0 if exit.code is None else 1
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        stdout.seek(0)
        stderr.seek(0)
        return subprocess.CompletedProcess(argv, code, stdout.read(), stderr.read())


def run_pip(argv):
    """Runs pip with these arguments."""
    return run_fork(pip._internal.cli.main.main, "pip", argv, dict(os.environ))


if __name__ == "__main__":
    runs = [run_pip(argv) for argv in json.load(sys.stdin)]
    json.dump([[done.returncode, done.stdout, done.stderr] for done in runs], sys.stdout)
