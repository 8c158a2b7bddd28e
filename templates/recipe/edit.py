"""Makes one edit in a source file.

Arguments: file, pattern, replacement, a text that is there when the edit is made already, `required` or `optional`.
A second run changes nothing. Where a required pattern matches nothing the sources are not what the recipe was written
for, so the build ends here and not hours later.
"""
import re
import sys

path, pattern, replacement, unless, need = sys.argv[1:]
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
with open(path, "w", encoding="utf-8", newline="") as file:
    file.write(after)
print(f"{path}: {count} places changed")
