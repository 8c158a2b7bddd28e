"""Made-up releases for the wheel finder: a list as GitHub gives it, and manifests that know the GPUs.

    finder_data.py FOLDER COUNT [STEP]

Writes FOLDER/releases.json and FOLDER/rock-manifest.json with COUNT wheels of two projects: every one that there can be,
or each STEP-th.
"""

import hashlib
import itertools
import json
import pathlib
import sys

PYTHONS = ["cp310", "cp311", "cp312", "cp313", "cp313t", "cp314"]
PAIRS = [
    ("6.1", "2.5"), ("6.2", "2.5"), ("6.1", "2.6"), ("6.2.4", "2.6"), ("6.3", "2.7"), ("6.3", "2.8"), ("6.4", "2.8"),
    ("6.3", "2.9"), ("6.4", "2.9"), ("7.0", "2.10"), ("7.1", "2.10"), ("7.1", "2.11"), ("7.2", "2.11"), ("7.2", "2.12"),
    ("7.2", "2.13"), ("7.2", "2.14"), ("7.14", "2.14"),
]
VERSIONS = ["2.8.3", "2.8.2", "2.8.1", "2.8.0", "2.7.4", "2.7.3", "2.7.2", "2.7.1", "2.7.0", "2.6.3"]
GFX = {"6": ["gfx90a", "gfx942", "gfx1030", "gfx1100"], "7": ["gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1151", "gfx1201"]}


def rows():
    """All wheels there can be, those that people look for first: project, version, rocm, torch, backend, tags."""
    systems = ["manylinux_2_28_x86_64", "linux_x86_64"]
    for project, system in itertools.product(["flash-attn", "rmx-vecadd"], systems):
        for version, (rocm, torch) in itertools.product(VERSIONS, PAIRS):
            for python in PYTHONS:
                if python == "cp313t" and rocm < "7" or python == "cp314" and rocm not in ("7.2", "7.14"):
                    continue
                yield project, version, rocm, torch, None, f"{python.rstrip('t')}-{python}-{system}"
            if project == "flash-attn" and version >= "2.7" and system == systems[0]:
                yield project, version, rocm, torch, "triton", "py3-none-any"


def asset(project, version, rocm, torch, backend, tags, tag):
    shown = rocm if rocm == "7.14" else "".join(rocm.split("."))
    label = f"rocm{shown}torch{torch}{backend or ''}"
    name = f"{project.replace('-', '_')}-{version}+{label}-{tags}.whl"
    digest = hashlib.sha256(name.encode()).hexdigest()
    python, abi, platform = tags.split("-")
    size = 700_000 if backend else 150_000_000 + int(digest[:6], 16)
    url = f"https://github.com/example/rocm-wheels/releases/download/{tag}/{name.replace('+', '%2B')}"
    listed = {"name": name, "state": "uploaded", "size": size, "digest": f"sha256:{digest}", "browser_download_url": url}
    row = {
        "name": name, "sha256": digest, "size_bytes": size, "distribution": project, "version": version, "label": label,
        "accelerator": {"name": "rocm", "version": rocm}, "torch": torch, "git": None, "backend": backend, "build": None,
        "python": python.split("."), "abi": abi.split("."), "platform": platform.split("."), "covers": [],
        "requires_python": ">=3.9", "metadata_sha256": None, "index": f"rocm{rocm}-torch{torch}",
    }
    if not backend:
        row["gfx"] = GFX[rocm[0]]
    return listed, row


def main():
    folder, count, step = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1
    releases, files = {}, []
    for row in itertools.islice(rows(), 0, count * step, step):
        tag = f"{row[0]}-{row[1]}"
        listed, manifest_row = asset(*row, tag)
        releases.setdefault(tag, []).append(listed)
        files.append(manifest_row)
    if len(files) < count:
        raise SystemExit(f"there are only {len(files)} wheels to make")
    listing = [
        {"id": number, "tag_name": tag, "draft": False, "prerelease": False, "assets": assets}
        for number, (tag, assets) in enumerate(releases.items(), 1)
    ]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "releases.json").write_text(json.dumps(listing))
    (folder / "rock-manifest.json").write_text(json.dumps({"version": 1, "tag": None, "plan": None, "files": files}))


main()
