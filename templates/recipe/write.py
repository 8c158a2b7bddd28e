"""Writes a file, unless it has that content. Arguments: file, content."""
import os
import sys


def inside(path):
    """Refuses a path that links of the sources lead out of the job's folder."""
    here = os.path.realpath(os.curdir)
    named = os.path.normpath(os.path.join(here, path))
    real = os.path.realpath(named)
    if named.startswith(os.path.join(here, "")) and not real.startswith(os.path.join(here, "")):
        sys.exit(f"{path}: a link leads to {real}, out of the job's folder; the sources are not written there")


path, content = sys.argv[1:]
inside(path)
if os.path.isfile(path):
    with open(path, encoding="utf-8", newline="") as file:
        if file.read() == content:
            print(f"{path}: nothing to do")
            sys.exit(0)
os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
with open(path, "w", encoding="utf-8", newline="") as file:
    file.write(content)
print(f"{path}: written")
