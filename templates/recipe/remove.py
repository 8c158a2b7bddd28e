"""Removes paths; one that is not there is no fault. Arguments: the paths."""
import os
import shutil
import sys

for path in sys.argv[1:]:
    place = inside(path, "nothing is removed there", follow=False)
    if os.path.isdir(place) and not os.path.islink(place):
        shutil.rmtree(place)
    elif os.path.lexists(place):
        os.remove(place)
    else:
        print(f"{path}: not there")
        continue
    print(f"{path}: removed")
