"""Makes one edit in a source file, and says whether it was applied, was applied already, or does not apply.

Arguments: file, pattern, a text that is there when the edit is made already, a text of the sources that the edit is for or
nothing for all, how many places must match, or nothing for any number but none, and the parts of the replacement: `=TEXT`,
`:GROUP`, and `\\n` and `\\t` for a line break and a tab. A second run changes nothing. Where the sources are those that the edit is for and the pattern matches otherwise, they are not what the recipe
was written for, so the build ends here and not hours later.
"""
import difflib
import os
import re
import sys


def expanded(match):
    """The replacement of one match; a group that took no part is empty."""
    found = []
    for part in parts:
        if part.startswith("="):
            found.append(part[1:])
        elif part.startswith(":"):
            group = part[1:]
            found.append(match.group(int(group) if group.isdigit() else group) or "")
        else:
            found.append({"\\n": "\n", "\\t": "\t"}[part])
    return "".join(found)


path, pattern, unless, only_with, wanted, *parts = sys.argv[1:]
place = inside(path, "the sources are not edited there")
if only_with and not os.path.exists(place):
    sys.exit(print(f"{path}: does not apply, there is no such file"))
with open(place, encoding="utf-8", newline="") as file:
    before = file.read()
if unless and unless in before:
    sys.exit(print(f"{path}: applied already, it has {unless!r}"))
if only_with not in before:
    sys.exit(print(f"{path}: does not apply, nothing in it says {only_with!r}"))
try:
    after, count = re.subn(pattern, expanded, before, flags=re.MULTILINE)
except (re.error, IndexError) as error:
    sys.exit(f"{path}: the edit by {pattern!r} cannot be made: {error}")
if count == 0:
    sys.exit(f"{path}: nothing matches {pattern!r}; the sources are not what this edit was written for")
if wanted and count != int(wanted):
    sys.exit(f"{path}: {count} places match {pattern!r}, not {wanted}; the sources are not what this edit was written for")
with open(place, "w", encoding="utf-8", newline="") as file:
    file.write(after)
lines = [text.splitlines(keepends=True) for text in (before, after)]
sys.stdout.writelines(line if line.endswith("\n") else line + "\n" for line in difflib.unified_diff(*lines, path, path))
print(f"{path}: applied, {count} {'place' if count == 1 else 'places'}")
