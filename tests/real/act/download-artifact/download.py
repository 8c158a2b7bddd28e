"""Brings artifacts by the rules of actions/download-artifact from version 5 on: one that is named, or meant by its ID, must
be there; of a pattern any number will do; each gets a folder of its own, unless it is the only one, or they are merged."""

import fnmatch
import json
import os
import pathlib
import shutil
import sys

inputs = json.loads(os.environ["INPUTS"])
kept = pathlib.Path(os.environ["STAND_IN"], "artifacts")
names = sorted(path.name for path in kept.iterdir())
if inputs["artifact-ids"]:
    if inputs["name"]:
        sys.exit("an artifact has a name or an ID")
    ids = {path.name: os.readlink(path) for path in kept.parent.joinpath("ids").iterdir()}
    ids = {number: name for number, name in ids.items() if name in names}
    wanted = inputs["artifact-ids"].split(",")
    if missing := [number for number in wanted if number not in ids]:
        sys.exit(f"there is no artifact with the ID {', '.join(missing)}")
    names = [ids[number] for number in wanted]
elif inputs["name"]:
    if inputs["name"] not in names:
        sys.exit(f"there is no artifact {inputs['name']} among: {names}")
    names = [inputs["name"]]
elif inputs["pattern"]:
    names = fnmatch.filter(names, inputs["pattern"])
into = pathlib.Path(inputs["path"])
for name in names:
    is_flat = len(names) == 1 or inputs["merge-multiple"] == "true"
    shutil.copytree(kept / name, into if is_flat else into / name, dirs_exist_ok=True)
    print(f"{name}: {len(list((kept / name).rglob('*')))} files")
