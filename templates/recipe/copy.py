"""Copies a source tree. Arguments: the tree, the target.

What version control and earlier builds left at its top stays behind.
"""
import fnmatch
import os
import shutil
import sys

tree, target = sys.argv[1:]
if not os.path.isdir(tree):
    sys.exit(f"{tree}: there is no such folder")
left_behind = [".git", "build", "dist", "*.egg-info"]


def ignored(folder, names):
    here = left_behind if os.path.samefile(folder, tree) else ["__pycache__"]
    return [name for name in names if any(fnmatch.fnmatch(name, pattern) for pattern in here)]


shutil.rmtree(target, ignore_errors=True)
shutil.copytree(tree, target, symlinks=True, ignore=ignored)
print(f"{tree} copied to {target}")
