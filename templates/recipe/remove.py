"""Removes paths; one that is not there is no fault. Arguments: the paths."""
import os
import shutil
import sys


def inside(path):
    """Refuses a path that links of the sources lead out of the job's folder."""
    here = os.path.realpath(os.curdir)
    named = os.path.normpath(os.path.join(here, path))
    real = os.path.join(os.path.realpath(os.path.dirname(named)), os.path.basename(named))
    if named.startswith(os.path.join(here, "")) and not real.startswith(os.path.join(here, "")):
        sys.exit(f"{path}: a link leads to {real}, out of the job's folder; nothing is removed there")


for path in sys.argv[1:]:
    inside(path)
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.remove(path)
    else:
        print(f"{path}: not there")
        continue
    print(f"{path}: removed")
