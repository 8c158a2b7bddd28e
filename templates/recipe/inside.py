import os
import sys


def inside(path, effect, follow=True):
    """Returns the real path of one in the job's folder, and ends the script where links of the sources lead out of it.

    Only the returned path is opened: `link/../x` is another file where links are followed than where its text is shortened.
    Without `follow`, a link at the end of the path is not followed.
    """
    here = os.path.join(os.path.realpath(os.curdir), "")
    place = os.path.join(here, path)
    folder, name = os.path.split(place.rstrip("/" + os.sep))
    if follow or name in ("", os.curdir, os.pardir):
        real = os.path.realpath(place)
    else:
        real = os.path.join(os.path.realpath(folder), name)
    if os.path.normpath(place).startswith(here) and not real.startswith(here):
        sys.exit(f"{path}: a link leads to {real}, out of the job's folder; {effect}")
    return real


