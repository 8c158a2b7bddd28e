"""Makes one edit in a source file, and says whether it was applied, was applied already, or does not apply.

Arguments: file, pattern, replacement, a text that is there when the edit is made already, a text of the sources that the
edit is for or nothing for all, and how many places must match, or nothing for any number but none. A second run changes
nothing. Where the sources are those that the edit is for and the pattern matches otherwise, they are not what the recipe
was written for, so the build ends here and not hours later.
"""
import difflib
import os
import re
import sys


def inside(path):
    """Refuses a path that links of the sources lead out of the job's folder."""
    here = os.path.realpath(os.curdir)
    named = os.path.normpath(os.path.join(here, path))
    real = os.path.realpath(named)
    if named.startswith(os.path.join(here, "")) and not real.startswith(os.path.join(here, "")):
        sys.exit(f"{path}: a link leads to {real}, out of the job's folder; the sources are not edited there")


path, pattern, replacement, unless, only_with, wanted = sys.argv[1:]
inside(path)
if only_with and not os.path.exists(path):
    sys.exit(print(f"{path}: does not apply, there is no such file"))
with open(path, encoding="utf-8", newline="") as file:
    before = file.read()
if unless and unless in before:
    sys.exit(print(f"{path}: applied already, it has {unless!r}"))
if only_with not in before:
    sys.exit(print(f"{path}: does not apply, nothing in it says {only_with!r}"))
after, count = re.subn(pattern, replacement, before, flags=re.MULTILINE)
if count == 0:
    sys.exit(f"{path}: nothing matches {pattern!r}; the sources are not what this edit was written for")
if wanted and count != int(wanted):
    sys.exit(f"{path}: {count} places match {pattern!r}, not {wanted}; the sources are not what this edit was written for")
with open(path, "w", encoding="utf-8", newline="") as file:
    file.write(after)
lines = [text.splitlines(keepends=True) for text in (before, after)]
sys.stdout.writelines(line if line.endswith("\n") else line + "\n" for line in difflib.unified_diff(*lines, path, path))
print(f"{path}: applied, {count} {'place' if count == 1 else 'places'}")
