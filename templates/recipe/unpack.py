"""Unpacks a source archive. Arguments: the archive or the folder that holds it alone, its SHA-256 or nothing, target.

The archive's top folder becomes the target. Every member is checked against what is on disk when it is written, so that
links which the archive itself makes lead no member out of the top folder; the rules are those of tarfile's
`filter="data"` (PEP 706), which not every Python has. Nothing is left behind of an archive that is refused.
"""
import hashlib
import os
import pathlib
import shutil
import stat
import sys
import tarfile
import zlib

MOST_LINKS = 40  # followed on the way to one member, as Linux does


class Refused(Exception):
    """A member that must not be written."""


def resolved(root, name):
    """Returns the real path of a name below the root, as parts; what is not there yet has no links.

    Only `lstat` of real paths is asked, so that no long chain of links can hide where it ends (CVE-2025-4517).
    """
    real, waiting, links = [], name.split("/")[::-1], 0
    while waiting:
        part = waiting.pop()
        if part in ("", "."):
            continue
        if part == "..":
            if len(real) < 2:
                raise Refused("leads out of the archive's top folder")
            real.pop()
            continue
        path = os.path.join(root, *real, part)
        try:
            is_link = stat.S_ISLNK(os.lstat(path).st_mode)
        except (FileNotFoundError, NotADirectoryError):
            is_link = False
        if not is_link:
            real.append(part)
            continue
        links += 1
        text = os.readlink(path).replace(os.sep, "/")
        if links > MOST_LINKS or not real or text.startswith("/"):
            raise Refused("leads through a link out of the archive's top folder, or through too many links")
        waiting.extend(text.split("/")[::-1])
    return real


def checked(name):
    """A name that means the same on every system."""
    foreign = os.name == "nt" and set(name) & set('\\:*?"<>|')
    if name.startswith("/") or "\0" in name or foreign:
        raise Refused("has an absolute name" if name.startswith("/") else "has a name that no folder can hold")
    return name


def make_way(root, name):
    """Returns where a member is written: below real folders, and where nothing is."""
    above, _, last = name.rstrip("/").rpartition("/")
    if last in ("", ".", ".."):
        raise Refused("has no name")
    real = resolved(root, above)
    if not real:
        raise Refused("lies beside the archive's top folder")
    place = os.path.join(root, *real, last)
    os.makedirs(os.path.dirname(place), exist_ok=True)
    if os.path.lexists(place):
        os.remove(place)
    return place


def write(root, archive, member, links):
    """Writes a member; links are made, checked, and noted with what they lead to."""
    name = checked(member.name)
    if member.isdir():
        os.makedirs(os.path.join(root, *resolved(root, name)), exist_ok=True)
    elif member.issym():
        above = name.rstrip("/").rpartition("/")[0]
        beside = f"{above}/{checked(member.linkname)}"
        other = os.path.join(root, *resolved(root, beside))
        place = make_way(root, name)
        links[place] = beside
        try:
            os.symlink(member.linkname.replace("/", os.sep), place, target_is_directory=os.path.isdir(other))
        except OSError:
            if os.name != "nt":
                raise
    elif member.islnk():
        other = os.path.join(root, *resolved(root, checked(member.linkname)))
        if not os.path.isfile(other):
            raise Refused(f"is another name of {member.linkname!r}, which is no file in front of it")
        shutil.copy2(other, make_way(root, name))
    elif member.isreg() and not member.issparse():
        place = make_way(root, name)
        with archive.extractfile(member) as content, open(place, "xb") as file:
            shutil.copyfileobj(content, file, 1 << 20)
            if file.tell() != member.size:
                raise Refused("is cut off")
        # Its owner may change it, nobody else; bits that make a program run as another user go.
        mode = member.mode & 0o755 | 0o600
        os.chmod(place, mode if mode & 0o100 else mode & ~0o111)
        try:
            os.utime(place, (member.mtime, member.mtime))
        except (OSError, OverflowError, ValueError):
            pass  # a time that this system cannot keep
    else:
        raise Refused("is neither a file, a folder nor a link")


def finish(root, links):
    """Checks links again: what was not there when one was made may be a link now. Windows may not let users make links
    (as tarfile, a copy is made there)."""
    for place, beside in links.items():
        if os.path.lexists(place) and not os.path.islink(place):
            continue  # a later member took its place
        try:
            other = os.path.join(root, *resolved(root, beside))
        except Refused as error:
            raise Refused(f"{os.path.relpath(place, root)!r} {error}")
        if not os.path.lexists(place) and os.path.isdir(other):
            shutil.copytree(other, place)
        elif not os.path.lexists(place) and os.path.isfile(other):
            shutil.copy2(other, place)


def unpack(path, root):
    links = {}
    with tarfile.open(path) as archive:
        for member in archive:
            try:
                write(root, archive, member, links)
            except Refused as error:
                raise Refused(f"{member.name!r} {error}")
    finish(root, links)


place, wanted, target = sys.argv[1:]
archives = [pathlib.Path(place)] if place.endswith(".tar.gz") else sorted(pathlib.Path(place).glob("*.tar.gz"))
if len(archives) != 1 or not archives[0].is_file():
    sys.exit(f"{place}: one archive ending in .tar.gz is expected, {sum(a.is_file() for a in archives)} are there")
sha256 = hashlib.sha256()
with open(archives[0], "rb") as file:
    for piece in iter(lambda: file.read(1 << 20), b""):
        sha256.update(piece)
digest = sha256.hexdigest()
if wanted and digest != wanted:
    sys.exit(f"{archives[0].name}: its SHA-256 is {digest}, the facts say {wanted}")
fresh = pathlib.Path(target + ".unpacking")
shutil.rmtree(fresh, ignore_errors=True)
fresh.mkdir(parents=True)
try:
    unpack(archives[0], str(fresh.resolve()))
    tops = list(fresh.iterdir())
    if len(tops) != 1 or tops[0].is_symlink() or not tops[0].is_dir():
        sys.exit(f"{archives[0].name}: one top folder is expected")
    shutil.rmtree(target, ignore_errors=True)
    tops[0].rename(target)
except Refused as error:
    sys.exit(f"{archives[0].name}: member {error}")
except (tarfile.TarError, EOFError, OSError, OverflowError, ValueError, zlib.error) as error:
    sys.exit(f"{archives[0].name}: it cannot be unpacked: {error}")
finally:
    shutil.rmtree(fresh, ignore_errors=True)
print(f"{archives[0].name}: sha256 {digest}, unpacked to {target}")
