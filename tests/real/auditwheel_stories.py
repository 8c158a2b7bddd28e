"""Holds the verdicts of `wheel show` against auditwheel's, on every wheel that the stories of `cargo test` make.

Runs in the environment that auditwheel is installed in: one process is started and copied for each wheel. A wheel is
called after its story. Where auditwheel has no verdict there is nothing to compare: that is counted, and ours must say
what is wrong or why there is nothing to judge.
"""

import argparse
import collections
import contextlib
import functools
import io
import json
import multiprocessing
import os
import pathlib
import signal
import subprocess
import sys
import zipfile

import auditwheel.main

from auditwheel_diff import KEYS, kept_answers, listed

# A wheel that unpacks to more is there to fill memory, and auditwheel unpacks it to disk.
MOST_BYTES = 32 << 20
MOST_SECONDS = 60


def theirs(path, kept):
    """Returns auditwheel's document, also from an earlier run, or None."""
    question = ["story", path.name, path.read_bytes()]
    answer = kept.read(*question)
    if answer is None:
        answer, ends_itself = ask(path)
        if ends_itself:
            kept.keep(answer, *question)
    return answer


def ask(path):
    """Returns auditwheel's document, which may be empty, and whether it ends by itself."""
    end, begin = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(MOST_SECONDS)
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            sys.argv = ["auditwheel", "show", "--json", str(path)]
            # That it gives up is a verdict, too: none.
            with contextlib.suppress(BaseException):
                auditwheel.main.main()
        with os.fdopen(begin, "w") as pipe:
            json.dump(out.getvalue(), pipe)
        os._exit(0)
    os.close(begin)
    with os.fdopen(end) as pipe:
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    text = json.loads(said) if said else ""
    return json.loads(text) if text.startswith("{") else {}, status == 0


def is_large(path):
    try:
        with zipfile.ZipFile(path) as archive:
            return sum(member.file_size for member in archive.infolist()) > MOST_BYTES
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
        return False


def both(rock, kept, path):
    """What both say of a wheel; nothing where it is too large."""
    if is_large(path):
        return None, {}
    ours = subprocess.run([rock, "wheel", "show", "--json=auditwheel", path], capture_output=True, text=True, check=False)
    return ours, theirs(path, kept)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rock", required=True, type=pathlib.Path)
    parser.add_argument("--differences", required=True, type=pathlib.Path)
    parser.add_argument("--kept", required=True, type=pathlib.Path, help="where answers are kept between runs")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("modules", nargs="+", help="modules of tests whose wheels are compared")
    options = parser.parse_args()
    may_differ = listed(options.differences, "| story `")
    counts, wrong, differed = collections.Counter(), [], set()
    paths = sorted(path for module in options.modules for path in options.folder.glob(f"{module}.*/*/*.whl"))
    with multiprocessing.get_context("fork").Pool() as pool:
        told = pool.map(functools.partial(both, options.rock, kept_answers(options.kept)), paths, chunksize=8)
    for path, (done, other) in zip(paths, told):
        story = path.parts[-3].split(".")[-1]
        if done is None:
            counts["too large to unpack"] += 1
            continue
        mine = json.loads(done.stdout) if done.stdout.startswith("{") else {}
        if "overall_tag" not in other:
            counts["without a verdict of auditwheel"] += 1
            if done.returncode not in (0, 1) or not (mine or "error[" in done.stderr):
                wrong.append(f"{story}: {path}: ours exits with {done.returncode}: {done.stderr[-300:]}")
            continue
        found = {key: (mine.get(key), other.get(key)) for key in KEYS if mine.get(key) != other.get(key)}
        if "overall_tag" not in mine:
            found = {"refused": (mine.get("error") or done.stderr[:200], other["overall_tag"])}
        counts["compared"] += 1
        allowed = may_differ.get(story, set())
        if found.keys() & allowed:
            differed.add(story)
        for key in sorted(found.keys() - allowed):
            wrong.append(f"{story}: {path}: {key}: ours {found[key][0]!r}, auditwheel's {found[key][1]!r} {done.stderr[-200:]!r}")
    wrong += [f"{story} is listed as different and is not" for story in sorted(may_differ.keys() - differed)]
    print("\n".join(wrong))
    print(", ".join(f"{number} {what}" for what, number in sorted(counts.items())) + f"; {len(differed)} stories differ as listed, {len(wrong)} differences are not listed")
    sys.exit(1 if wrong or counts["compared"] < 200 else 0)


if __name__ == "__main__":
    main()
