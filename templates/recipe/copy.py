"""Copies a source tree. Arguments: the tree, the target.

What version control and earlier builds left at its top stays behind; the commit of a tree under git goes into a file
beside the target, `TARGET.commit`.
"""
import fnmatch
import os
import shutil
import subprocess
import sys

tree, target = sys.argv[1:]
place = inside(target, "nothing is copied there", follow=False)
if not os.path.isdir(tree):
    sys.exit(f"{tree}: there is no such folder")
left_behind = [".git", "build", "dist", "*.egg-info"]


def ignored(folder, names):
    here = left_behind if os.path.samefile(folder, tree) else ["__pycache__"]
    return [name for name in names if any(fnmatch.fnmatch(name, pattern) for pattern in here)]


if os.path.islink(place):
    os.remove(place)
shutil.rmtree(place, ignore_errors=True)
shutil.copytree(tree, place, symlinks=True, ignore=ignored)
commit = b""
if os.path.exists(os.path.join(tree, ".git")):
    # In a container the tree is another user's, which git would refuse to read.
    git = ["git", "-c", "safe.directory=*", "-C", tree, "rev-parse", "HEAD"]
    try:
        commit = subprocess.run(git, stdout=subprocess.PIPE).stdout
    except OSError as error:
        print(f"its commit is not known: {error}")
if os.path.lexists(f"{place}.commit"):
    os.remove(f"{place}.commit")  # also a link, which is not written through
if commit:
    with open(f"{place}.commit", "wb") as file:
        file.write(commit)
print(f"{tree} copied to {target}")
