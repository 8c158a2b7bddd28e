"""Writes a file, unless it has that content. Arguments: file, content."""
import os
import sys

path, content = sys.argv[1:]
if os.path.isfile(path):
    with open(path, encoding="utf-8", newline="") as file:
        if file.read() == content:
            print(f"{path}: nothing to do")
            sys.exit(0)
os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
with open(path, "w", encoding="utf-8", newline="") as file:
    file.write(content)
print(f"{path}: written")
