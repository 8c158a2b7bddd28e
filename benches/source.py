#!/usr/bin/env python3
"""Source trees beside bare git, in one run.

    python3 benches/source.py [--binary target/dist/rock-matrix] [--rounds 5]

The tree has 50,000 files, 3 submodules and 40 patches. Prints two ratios, each the median over rounds that alternate the
two sides:
  a checkout beside a shell script with the same git commands;
  a second checkout with nothing to do beside one `git status` of the tree.

Nothing is removed before the end: ext4 passes over inodes that were freed a moment ago, one by one, and what is made after
a large removal takes many times as long. Each round needs about 600 MB.
"""

import os
import pathlib
import shlex
import statistics
import subprocess
import tempfile

from matrices import alternate, arguments, seconds

OUTER_FILES = 47_000
SUBMODULES = ["third_party/one", "third_party/two", "third_party/three"]
FILES_OF_EACH = 1_000
OUTER_PATCHES, PATCHES_OF_EACH = 31, 3
SETTINGS = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_COUNT": "4",
    "GIT_CONFIG_KEY_0": "protocol.file.allow",
    "GIT_CONFIG_VALUE_0": "always",
    "GIT_CONFIG_KEY_1": "user.name",
    "GIT_CONFIG_VALUE_1": "bench",
    "GIT_CONFIG_KEY_2": "user.email",
    "GIT_CONFIG_VALUE_2": "bench@example.com",
    "GIT_CONFIG_KEY_3": "advice.detachedHead",
    "GIT_CONFIG_VALUE_3": "false",
}


def git(folder, *words, stdin=None):
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True, input=stdin).stdout.strip()


def repository(folder, files, submodules=()):
    """A repository of one commit, at the tag `v1`."""
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    lines = ["commit refs/heads/main", "committer bench <bench@example.com> 1700000000 +0000", "data 5", "files"]

    def add(path, text):
        lines.extend([f"M 100644 inline {path}", f"data {len(text)}", text])

    for number in range(files):
        add(f"part{number // 500:03}/file{number:05}.txt", "".join(f"line {line} of {number}\n" for line in range(20)))
    modules = ""
    for path in submodules:
        upstream = folder.parent / pathlib.Path(path).name
        modules += f'[submodule "{path}"]\n\tpath = {path}\n\turl = {upstream}\n'
        lines.append(f"M 160000 {git(upstream, 'rev-parse', 'v1')} {path}")
    if modules:
        add(".gitmodules", modules)
    git(folder, "fast-import", "--quiet", stdin="\n".join(lines) + "\n")
    git(folder, "tag", "v1", "main")


def patches(upstream, to, count, work):
    """Patches that change one file each."""
    git(work, "clone", "--quiet", "--no-recurse-submodules", str(upstream), upstream.name)
    clone = work / upstream.name
    for number in range(count):
        path = clone / f"part{number % 2:03}" / f"file{number % 2 * 500 + number:05}.txt"
        path.write_text(path.read_text().replace("line 10 ", f"line ten, changed by {number}, "))
        git(clone, "commit", "--quiet", "--all", "--message", f"Change {number}")
    to.mkdir(parents=True)
    git(clone, "format-patch", "--quiet", "--output-directory", str(to), f"-{count}")


def peer(top, patch_set):
    """What a person would write: the same commands, one after the other."""
    am = "git am --quiet --whitespace=nowarn --committer-date-is-author-date --no-gpg-sign"
    lines = [
        "set -eu",
        "git init --quiet --initial-branch=main",
        "git config advice.detachedHead false",
        f"git remote add origin {shlex.quote(str(top))}",
        "git fetch --quiet origin v1",
        "git checkout --quiet --detach FETCH_HEAD",
        "git tag --force THEROCK_UPSTREAM_DIFFBASE",
        "git submodule --quiet update --init --recursive",
        "git submodule --quiet foreach --recursive git tag --force THEROCK_UPSTREAM_DIFFBASE",
        *(f"git config submodule.{path}.ignore all" for path in SUBMODULES),
        f"git update-index --skip-worktree {' '.join(SUBMODULES)}",
        f"{am} {patch_set}/top/base/*.patch",
        *(f"(cd {path} && {am} {patch_set}/{path}/base/*.patch)" for path in SUBMODULES),
    ]
    return ["bash", "-c", "\n".join(lines)]


def main():
    options = arguments(__doc__, 5)
    os.environ.update(SETTINGS)
    with tempfile.TemporaryDirectory(prefix="rock-bench-") as name:
        folder = pathlib.Path(name)
        upstream, patch_set, work = folder / "upstream", folder / "patches" / "v1", folder / "work"
        work.mkdir()
        for path in SUBMODULES:
            module = upstream / pathlib.Path(path).name
            repository(module, FILES_OF_EACH)
            patches(module, patch_set / path / "base", PATCHES_OF_EACH, work)
        top = upstream / "top"
        repository(top, OUTER_FILES, SUBMODULES)
        patches(top, patch_set / "top" / "base", OUTER_PATCHES, work)
        times = ([], [])
        for number in range(options.rounds):
            tree, other = folder / f"tree{number}", folder / f"other{number}"
            ours = [options.binary, "source", "checkout", "--quiet", "--origin", str(top), "--ref", "v1"]
            ours += ["--checkout-dir", str(tree), "--repo-name", "top", "--patch-dir", str(patch_set.parent), "--no-hipify"]
            times[0].append(seconds(ours, folder))
            other.mkdir()
            times[1].append(seconds(peer(top, patch_set), other))
        same = [git(place, "rev-parse", "HEAD^{tree}") for place in (tree, other)]
        assert same[0] == same[1], "both sides make the same tree"
        mine, bare = map(statistics.median, times)
        print(f"checkout of 50,000 files, 3 submodules, 40 patches: {mine:.2f} s, bare git {bare:.2f} s, ratio {mine / bare:.2f}")
        status = ["git", "-C", str(tree), "status", "--porcelain"]
        seconds(status)
        mine, bare = alternate(ours, status, 4 * options.rounds + 1, folder)
        print(f"second checkout, nothing to do: {mine * 1000:.0f} ms, git status {bare * 1000:.0f} ms, ratio {mine / bare:.2f}")


if __name__ == "__main__":
    main()
