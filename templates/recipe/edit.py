"""Makes one edit in a source file.

Arguments: file, pattern, replacement, a text that is there when the edit is made already, `required` or `optional`, and
how many places must match, or nothing for any number but none. A second run changes nothing. Where a required pattern
matches otherwise the sources are not what the recipe was written for, so the build ends here and not hours later.
"""
import difflib
import os
import re
import sys

path, pattern, replacement, unless, need, wanted = sys.argv[1:]
if need == "optional" and not os.path.exists(path):
    print(f"{path}: nothing to do, it is not there")
    sys.exit(0)
with open(path, encoding="utf-8", newline="") as file:
    before = file.read()
if unless and unless in before:
    print(f"{path}: nothing to do, it has {unless!r}")
    sys.exit(0)
after, count = re.subn(pattern, replacement, before, flags=re.MULTILINE)
if count == 0 and need == "optional":
    print(f"{path}: nothing to do, nothing matches {pattern!r}")
    sys.exit(0)
if count == 0:
    sys.exit(f"{path}: nothing matches {pattern!r}; the sources are not what this edit was written for")
if wanted and count != int(wanted):
    sys.exit(f"{path}: {count} places match {pattern!r}, not {wanted}; the sources are not what this edit was written for")
with open(path, "w", encoding="utf-8", newline="") as file:
    file.write(after)
lines = [text.splitlines(keepends=True) for text in (before, after)]
sys.stdout.writelines(line if line.endswith("\n") else line + "\n" for line in difflib.unified_diff(*lines, path, path))
print(f"{path}: {count} places changed")
