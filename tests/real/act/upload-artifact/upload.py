"""Keeps files as an artifact, by the rules of actions/upload-artifact: names, patterns, hidden files, and the folder
that paths are relative to, which is the deepest that all patterns have in common. Each artifact has an ID of its own,
also one that takes the place of another under its name."""

import glob
import itertools
import json
import os
import pathlib
import re
import shutil
import sys

inputs = json.loads(os.environ["INPUTS"])
name, level = inputs["name"], inputs["compression-level"]
if not name or re.search(r'["\\/:<>|*?\r\n]', name):
    sys.exit(f"no artifact can have the name {name!r}")
if not re.fullmatch("[0-9]", level):
    sys.exit(f"compression-level is {level!r}")
patterns = [line.strip() for line in inputs["path"].splitlines() if line.strip()]

found = set()
for pattern in patterns:
    for path in map(pathlib.Path, glob.glob(pattern, recursive=True, include_hidden=True)):
        found.update(each for each in [path, *path.rglob("*")] if each.is_file())
if inputs["include-hidden-files"] != "true":
    found = {path for path in found if not any(part.startswith(".") for part in path.parts)}
if not found:
    print(f"no files: {patterns}")
    sys.exit({"warn": 0, "ignore": 0, "error": 1}[inputs["if-no-files-found"]])


def fixed(pattern):
    """The part of a pattern before the first that is none of a path."""
    parts = pathlib.Path(pattern).parts
    return os.path.abspath(os.path.join(*itertools.takewhile(lambda part: not re.search(r"[*?[]", part), parts)))


root = pathlib.Path(os.path.commonpath([fixed(pattern) for pattern in patterns]))
root = root.parent if root.is_file() else root
run = pathlib.Path(os.environ["STAND_IN"])
kept = run / "artifacts" / name
ids = run / "ids"
ids.mkdir(exist_ok=True)
if kept.exists():
    if inputs["overwrite"] != "true":
        sys.exit(f"there is an artifact {name} already")
    shutil.rmtree(kept)
    for other in ids.iterdir():
        if other.is_symlink() and os.readlink(other) == name:
            # No other artifact gets this ID.
            other.unlink()
            os.symlink(".gone", other)
for path in sorted(found):
    place = kept / path.absolute().relative_to(root)
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(path, place)
    print(f"{name}: {path}")

for number in itertools.count(1001):
    try:
        # Making a link fails where there is one, so that no two artifacts get one ID.
        os.symlink(name, ids / str(number))
        break
    except FileExistsError:
        pass
with open(os.environ["GITHUB_OUTPUT"], "a", encoding="utf-8") as outputs:
    outputs.write(f"artifact-id={number}\n")
