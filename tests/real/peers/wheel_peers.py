"""Compares the verdict of `wheel verify` on each vector with those of pip and uv, and the files that these install."""

import contextlib
import hashlib
import importlib.metadata
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

# pip starts a process of its own for every wheel otherwise, which takes most of the time.
from pip._internal.cli.main import main as pip_main
from pip._internal.commands import install  # noqa: F401

from kept_answers import KeptAnswers
from wheel_vectors import vectors

rock, python, uv, work, served, kept = sys.argv[1:]
NAME = "demo-1.0-py3-none-any.whl"
MOST_SECONDS = 60
work = Path(work)
kept = KeptAnswers(kept, [f"{name} {importlib.metadata.version(name)}" for name in ("pip", "uv")])


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", cwd=work, check=False)
    return done.returncode, done.stdout + done.stderr


def run_pip(*arguments):
    """Runs pip in a copy of this process, and returns its exit code and what it prints."""
    with tempfile.TemporaryFile() as output:
        child = os.fork()
        if child == 0:
            signal.alarm(MOST_SECONDS)
            os.chdir(work)
            for descriptor in (1, 2):
                os.dup2(output.fileno(), descriptor)
            code = 2
            with contextlib.suppress(BaseException):
                code = pip_main(list(arguments))
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
        _, status = os.waitpid(child, 0)
        output.seek(0)
        return os.waitstatus_to_exitcode(status), output.read().decode(errors="replace")


def installed(folder):
    """Digests of files by path, without what installers write themselves."""
    own = (".lock", "RECORD", "INSTALLER", "REQUESTED", "direct_url.json", "uv_cache.json")
    # Programs name the environment that they are in, headers lie elsewhere for each.
    files = {path.relative_to(folder): path for path in folder.rglob("*") if path.is_file()}
    return {str(name): hashlib.sha256(path.read_bytes()).hexdigest() for name, path in files.items() if name.name not in own and "bin" not in name.parts and "include" not in name.parts and name.suffix != ".pyc"}


def library(folder):
    found = installed(folder)
    return {name.split("site-packages/")[-1]: content for name, content in found.items()}


def installed_by_all(number, wheel):
    """Returns exit code and output of each installer, and the files that each has installed."""
    targets = {peer: work / "installed" / f"{number:03}-{peer}" for peer in ("pip", "uv", "uv-streamed")}
    pip = ["install", "-q", "--no-index", "--no-cache-dir", "--disable-pip-version-check", "--ignore-installed"]
    fast = [uv, "pip", "install", "-q", "--no-config", "--no-cache", "--python", python]
    answers = {
        "pip": run_pip(*pip, "--prefix", str(targets["pip"]), str(wheel)),
        "uv": run(*fast, "--no-index", "--prefix", str(targets["uv"]), str(wheel)),
        "uv-streamed": run(*fast, "--no-index", "--prefix", str(targets["uv-streamed"]), f"demo @ {served}/{number:03}/{NAME}"),
    }
    return answers, [library(target) for target in targets.values()]


def judge(job):
    """Returns a line about a vector, whether it is refused here, whether an installer refuses it, and problems."""
    number, vector = job
    problems = []
    folder = work / "served" / f"{number:03}"
    folder.mkdir()
    wheel = folder / NAME
    wheel.write_bytes(vector.archive.bytes())
    code, said = run(rock, "wheel", "verify", str(wheel))
    refused = code == 1 and "error[" in said
    if code not in (0, 1):
        problems.append(f"{vector.name}: wheel verify exits with {code}: {said}")
    question = [NAME, wheel.read_bytes(), Path(__file__).read_bytes()]
    found = kept.read(*question)
    is_kept = found is not None
    answers, trees = found or installed_by_all(number, wheel)
    refusing = [peer for peer, (code, _) in answers.items() if code != 0]
    if refusing and not refused:
        problems.append(f"{vector.name}: {', '.join(refusing)} refuses it, and wheel verify does not: {answers[refusing[0]][1]}")
    if refused != vector.refused:
        problems.append(f"{vector.name}: wheel verify {'refuses' if refused else 'takes'} it: {said}")
    if refused and not refusing and not vector.why:
        problems.append(f"{vector.name}: only wheel verify refuses it, without a reason")
    if not refused and not refusing:
        if any(tree != trees[0] for tree in trees):
            problems.append(f"{vector.name}: pip and uv install {[sorted(tree) for tree in trees]}")
    # Where something is wrong, or an installer ran out of time, all of it is done again in the next run.
    if not problems and not is_kept and all(code in (0, 1, 2) for code, _ in answers.values()):
        kept.keep([answers, trees], *question)
    line = f"{vector.name}: {'refused' if refused else 'taken'} here; {', '.join(refusing) or 'none'} of the installers"
    return line, refused, bool(refusing), problems


def main():
    all_vectors, problems, only_here, refusals = vectors(), [], [], 0
    with multiprocessing.get_context("fork").Pool() as pool:
        for vector, (line, refused, has_refusing, found) in zip(all_vectors, pool.imap(judge, enumerate(all_vectors))):
            print(line)
            refusals += refused
            problems += found
            if refused and not has_refusing:
                only_here.append(f"{vector.name} ({vector.why})")
    print(f"    {len(all_vectors)} wheels: {len(all_vectors) - refusals} are taken and {refusals} refused")
    print(f"    {len(only_here)} that no installer refuses: {'; '.join(only_here)}")
    for problem in problems:
        print(f"FAIL: {problem}")
    sys.exit(bool(problems))


main()
