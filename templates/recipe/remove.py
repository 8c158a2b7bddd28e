"""Removes paths; one that is not there is no fault. Arguments: the paths."""
import os
import shutil
import sys

for path in sys.argv[1:]:
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.remove(path)
    else:
        print(f"{path}: not there")
        continue
    print(f"{path}: removed")
