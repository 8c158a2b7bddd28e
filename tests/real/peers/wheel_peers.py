"""Holds the verdict of `wheel verify` on each vector against those of pip and uv, and what they install."""

import os
import subprocess
import sys
from pathlib import Path

from wheel_vectors import vectors

rock, python, uv, work, served = sys.argv[1:]
NAME = "demo-1.0-py3-none-any.whl"
work = Path(work)


def run(*command, **variables):
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", env={**os.environ, **variables}, cwd=work)
    return done.returncode, done.stdout + done.stderr


def installed(folder):
    """Files by path, without what installers write themselves."""
    own = (".lock", "RECORD", "INSTALLER", "REQUESTED", "direct_url.json", "uv_cache.json")
    # Programs name the environment that they are in, headers lie elsewhere for each.
    files = {path.relative_to(folder): path for path in folder.rglob("*") if path.is_file()}
    return {str(name): path.read_bytes() for name, path in files.items() if name.name not in own and "bin" not in name.parts and "include" not in name.parts and name.suffix != ".pyc"}


def library(folder):
    found = installed(folder)
    return {name.split("site-packages/")[-1]: content for name, content in found.items()}


problems, only_here, counts = [], [], {"taken": 0, "refused": 0}
for number, vector in enumerate(vectors()):
    folder = work / "served" / f"{number:03}"
    folder.mkdir()
    wheel = folder / NAME
    wheel.write_bytes(vector.archive.bytes())
    code, said = run(rock, "wheel", "verify", str(wheel))
    refused = code == 1 and "error[" in said
    if code not in (0, 1):
        problems.append(f"{vector.name}: wheel verify exits with {code}: {said}")
    targets = {peer: work / "installed" / f"{number:03}-{peer}" for peer in ("pip", "uv", "uv-streamed")}
    pip = [python, "-m", "pip", "install", "-q", "--no-index", "--no-cache-dir", "--disable-pip-version-check", "--ignore-installed"]
    fast = [uv, "pip", "install", "-q", "--no-config", "--no-cache", "--python", python]
    answers = {
        "pip": run(*pip, "--prefix", str(targets["pip"]), str(wheel)),
        "uv": run(*fast, "--no-index", "--prefix", str(targets["uv"]), str(wheel)),
        "uv-streamed": run(*fast, "--no-index", "--prefix", str(targets["uv-streamed"]), f"demo @ {served}/{number:03}/{NAME}"),
    }
    refusing = [peer for peer, (code, _) in answers.items() if code != 0]
    if refusing and not refused:
        problems.append(f"{vector.name}: {', '.join(refusing)} refuses it, and wheel verify does not: {answers[refusing[0]][1]}")
    if refused != vector.refused:
        problems.append(f"{vector.name}: wheel verify {'refuses' if refused else 'takes'} it: {said}")
    if refused and not refusing:
        only_here.append(f"{vector.name} ({vector.why})")
        if not vector.why:
            problems.append(f"{vector.name}: only wheel verify refuses it, without a reason")
    if not refused and not refusing:
        trees = [library(target) for target in targets.values()]
        if any(tree != trees[0] for tree in trees):
            problems.append(f"{vector.name}: pip and uv install {[sorted(tree) for tree in trees]}")
    counts["refused" if refused else "taken"] += 1
    print(f"{vector.name}: {'refused' if refused else 'taken'} here; {', '.join(refusing) or 'none'} of the installers")

print(f"  - {counts['taken']} wheels are taken and {counts['refused']} refused")
print(f"  - no installer refuses: {'; '.join(only_here)}")
for problem in problems:
    print(f"FAIL: {problem}")
sys.exit(bool(problems))
