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
here, above = (os.path.realpath(path) for path in (os.curdir, os.path.dirname(target)))
if not os.path.join(above, "").startswith(os.path.join(here, "")):
    sys.exit(f"{target}: a link leads to {above}, out of the job's folder; nothing is copied there")
if not os.path.isdir(tree):
    sys.exit(f"{tree}: there is no such folder")
left_behind = [".git", "build", "dist", "*.egg-info"]


def ignored(folder, names):
    here = left_behind if os.path.samefile(folder, tree) else ["__pycache__"]
    return [name for name in names if any(fnmatch.fnmatch(name, pattern) for pattern in here)]


if os.path.islink(target):
    os.remove(target)
shutil.rmtree(target, ignore_errors=True)
shutil.copytree(tree, target, symlinks=True, ignore=ignored)
commit = b""
if os.path.exists(os.path.join(tree, ".git")):
    # In a container the tree is another user's, which git would refuse to read.
    git = ["git", "-c", "safe.directory=*", "-C", tree, "rev-parse", "HEAD"]
    try:
        commit = subprocess.run(git, stdout=subprocess.PIPE).stdout
    except OSError as error:
        print(f"its commit is not known: {error}")
if os.path.lexists(f"{target}.commit"):
    os.remove(f"{target}.commit")  # also a link, which is not written through
if commit:
    with open(f"{target}.commit", "wb") as file:
        file.write(commit)
print(f"{tree} copied to {target}")
