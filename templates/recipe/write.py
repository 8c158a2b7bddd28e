"""Writes a file, unless it has that content. Arguments: file, content."""
import os
import sys

path, content = sys.argv[1:]
place = inside(path, "the sources are not written there")
if os.path.isfile(place):
    with open(place, encoding="utf-8", newline="") as file:
        if file.read() == content:
            print(f"{path}: nothing to do")
            sys.exit(0)
os.makedirs(os.path.dirname(place), exist_ok=True)
with open(place, "w", encoding="utf-8", newline="") as file:
    file.write(content)
print(f"{path}: written")
