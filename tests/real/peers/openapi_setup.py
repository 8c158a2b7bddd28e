"""Writes what the stand-in for GitHub holds, and wheels.

    openapi_setup.py state FOLDER
    openapi_setup.py wheel PATH TEXT
"""

import base64
import hashlib
import json
import pathlib
import sys
import zipfile


def sha(text):
    return hashlib.sha1(text.encode()).hexdigest()


def repository(number, full_name, **fields):
    main = sha(f"{full_name} main")
    tags = {tag: main for tag in fields.pop("tags", ["v1"])}
    return {"repository": {"id": number, "full_name": full_name, "branches": {"main": main}, "tags": tags, **fields}, "releases": []}


def action(number, full_name, files):
    """A repository of an action with a release that is newer than every known one."""
    newer = sha(f"{full_name} v999.0.0")
    row = repository(number, full_name, files={newer: files})
    # More than one page of them.
    row["repository"]["tags"] = {"v999.0.0": newer} | {f"v0.{minor}.0": sha(f"{full_name} {minor}") for minor in range(120)}
    return row


def write_state(folder):
    wheels = ["v1", "v2.0+rocm6.2", "v3", "nightly-1", "locked-1"]
    repositories = [
        repository(1, "me/wheels", tags=wheels, annotated={"v3": sha("object of v3")}, environments={"release": ["v*"], "branches": None}),
        repository(2, "me/locked", has_immutable_releases=True),
        repository(3, "me/archived", is_archived=True),
        repository(4, "me/new-name", old_names=["me/old-name"]),
        repository(5, "me/private", is_private=True),
        repository(6, "me/ruled", tag_ruleset={}, tags=[]),
        action(7, "actions/checkout", {"action.yml": "runs:\n  using: node24\n"}),
        action(8, "actions/cache", {"action.yaml": "runs:\n  using: node24\n"}),
    ]
    folder.mkdir()
    state = {"version": 1, "last_id": 1000, "repositories": repositories}
    (folder / "state.json").write_text(json.dumps(state))


def write_wheel(path, text):
    name, version = path.name.split("-")[:2]
    tag = "-".join(path.name.removesuffix(".whl").split("-")[2:])
    info = f"{name}-{version}.dist-info"
    files = {
        f"{name}/__init__.py": text,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: {tag}\n",
    }
    record = ""
    for member, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content.encode()).digest()).decode().rstrip("=")
        record += f"{member},sha256={digest},{len(content.encode())}\n"
    files[f"{info}/RECORD"] = record + f"{info}/RECORD,,\n"
    path.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for member, content in files.items():
            archive.writestr(member, content)


if sys.argv[1] == "state":
    write_state(pathlib.Path(sys.argv[2]))
else:
    write_wheel(pathlib.Path(sys.argv[2]), sys.argv[3])
