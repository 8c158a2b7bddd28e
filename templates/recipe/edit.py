"""Makes one edit in a source file. Arguments: file, pattern, replacement, text that is there when it is made already.

A second run changes nothing. A pattern that matches nothing ends with an error, because the sources are then not what
the recipe was written for.
"""
import re
import sys

path, pattern, replacement, unless = sys.argv[1:]
with open(path, encoding="utf-8", newline="") as file:
    before = file.read()
if unless and unless in before:
    print(f"{path}: nothing to do, it has {unless!r}")
    sys.exit(0)
after, count = re.subn(pattern, replacement, before, flags=re.MULTILINE)
if count == 0:
    sys.exit(f"{path}: nothing matches {pattern!r}; the sources are not what this edit was written for")
with open(path, "w", encoding="utf-8", newline="") as file:
    file.write(after)
print(f"{path}: {count} places changed")
