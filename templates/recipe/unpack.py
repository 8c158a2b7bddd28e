"""Unpacks a source archive. Arguments: the archive or the folder that holds it alone, its SHA-256 or nothing, target.

The archive's top folder becomes the target. Members that would land outside of it are refused.
"""
import hashlib
import pathlib
import shutil
import sys
import tarfile

place, wanted, target = sys.argv[1:]
archives = [pathlib.Path(place)] if place.endswith(".tar.gz") else sorted(pathlib.Path(place).glob("*.tar.gz"))
if len(archives) != 1 or not archives[0].is_file():
    sys.exit(f"{place}: one archive ending in .tar.gz is expected, {sum(a.is_file() for a in archives)} are there")
digest = hashlib.sha256(archives[0].read_bytes()).hexdigest()
if wanted and digest != wanted:
    sys.exit(f"{archives[0].name}: its SHA-256 is {digest}, the facts say {wanted}")
fresh = pathlib.Path(target + ".unpacking")
shutil.rmtree(fresh, ignore_errors=True)
shutil.rmtree(target, ignore_errors=True)
fresh.mkdir(parents=True)
root = fresh.resolve()
with tarfile.open(archives[0]) as archive:
    for member in archive.getmembers():
        place = (root / member.name).resolve()
        if root != place and root not in place.parents:
            sys.exit(f"{archives[0].name}: member {member.name!r} would land outside of the target")
    archive.extractall(root)
tops = list(fresh.iterdir())
if len(tops) != 1 or not tops[0].is_dir():
    sys.exit(f"{archives[0].name}: one top folder is expected")
tops[0].rename(target)
fresh.rmdir()
print(f"{archives[0].name}: sha256 {digest}, unpacked to {target}")
