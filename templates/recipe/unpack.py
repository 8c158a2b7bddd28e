"""Unpacks a source archive. Arguments: the archive or the folder that holds it alone, its SHA-256 or nothing, target.

The archive's top folder becomes the target. Every member is checked against what is on disk when it is written, so that
links which the archive itself makes lead no member out of the top folder; the rules are those of tarfile's
`filter="data"` (PEP 706), which not every Python has. Headers and names have limits, as in all archives that
rock-matrix reads: tarfile keeps whatever they hold in memory. Nothing is left behind of an archive that is refused.
"""
import hashlib
import os
import pathlib
import re
import shutil
import stat
import sys
import tarfile
import zlib

MOST_LINKS = 40  # followed on the way to one member, as Linux does
MOST_PATH_BYTES = 4096  # of a name and of the text of a link (PATH_MAX of Linux)
MOST_HEADER_BYTES = 64 << 10  # of an extended header (pax)
MOST_HEADERS = 100  # extended ones in front of one member; tarfile calls itself for each
MOST_MEMBERS = 250000
MOST_NAME_BYTES = 64 << 20  # of all names and texts of links
LONG_NAMES = (tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK)
EXTENDED = LONG_NAMES + (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE)
# What is overridden below is no part of tarfile's interface: without it the limits would not hold.
OVERRIDDEN = ("_block", "_proc_member", "_proc_gnusparse_00", "_proc_gnusparse_01", "_proc_gnusparse_10")
for overridden in OVERRIDDEN:
    if not callable(getattr(tarfile.TarInfo, overridden, None)):
        version = ".".join(str(part) for part in sys.version_info[:3])
        sys.exit(f"tarfile of Python {version} has no TarInfo.{overridden}, which limits what it reads; use another Python")


class Refused(Exception):
    """A member that must not be written."""


class Header(tarfile.TarInfo):
    """A header that is read within the limits. TarInfo says of `_proc_member` that it can be overridden."""

    @classmethod
    def fromtarfile(cls, archive):
        try:
            return super().fromtarfile(archive)
        except (tarfile.InvalidHeaderError, tarfile.TruncatedHeaderError) as error:
            # TarFile takes it for the end of the archive.
            raise tarfile.ReadError(f"{error}, at byte {archive.offset}")

    def _proc_member(self, archive):
        if self.type == tarfile.GNUTYPE_SPARSE:
            self._refuse_sparse()
        if self.type not in EXTENDED:
            archive.extended_headers, archive.long_names = 0, set()
            return super()._proc_member(archive)
        limit = MOST_PATH_BYTES + 1 if self.type in LONG_NAMES else MOST_HEADER_BYTES
        if not 0 <= self.size <= limit:
            raise tarfile.ReadError(f"an extended header has {self.size} bytes, more than {limit}, at byte {self.offset}")
        archive.extended_headers = getattr(archive, "extended_headers", 0) + 1
        if archive.extended_headers > MOST_HEADERS:
            raise tarfile.ReadError(f"a member has more than {MOST_HEADERS} extended headers, at byte {self.offset}")
        if self.type in LONG_NAMES:
            long_names = getattr(archive, "long_names", set())
            if self.type in long_names:
                raise tarfile.ReadError(f"two extended headers of one kind describe one member, at byte {self.offset}")
            archive.long_names = long_names | {self.type}
        if self.type != tarfile.XGLTYPE:
            return super()._proc_member(archive)
        # One for all members, in which `git archive` names the commit; tarfile would keep it for good.
        records = archive.fileobj.read(self._block(self.size))
        if re.search(rb"\d (path|linkpath|size|GNU\.sparse\.[^=]*)=", records):
            raise tarfile.ReadError("an extended header gives all members one path, link or size")
        return self.fromtarfile(archive)

    def _block(self, count):
        if count < 0:
            raise tarfile.ReadError("a size is less than 0")  # not every Python asks (CVE-2025-8194)
        return super()._block(count)

    def _refuse_sparse(self, *_):
        raise tarfile.ReadError(f"a sparse file is not supported, at byte {self.offset}")

    _proc_gnusparse_00 = _proc_gnusparse_01 = _proc_gnusparse_10 = _refuse_sparse


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
    if len(os.fsencode(name)) > MOST_PATH_BYTES:
        raise Refused(f"has a path of more than {MOST_PATH_BYTES} bytes")
    foreign = os.name == "nt" and set(name) & set('\\:*?"<>|')
    if name.startswith("/") or "\0" in name or foreign:
        raise Refused("has an absolute path or link target" if name.startswith("/") else "has a name that no folder can hold")
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
    links, members, name_bytes = {}, 0, 0
    with open(path, "rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    with tarfile.open(path, "r:gz" if packed else "r:", tarinfo=Header) as archive:
        while True:
            member = archive.next()
            archive.members.clear()  # each is kept otherwise
            if member is None:
                break
            members += 1
            name_bytes += len(os.fsencode(member.name)) + len(os.fsencode(member.linkname))
            if members > MOST_MEMBERS or name_bytes > MOST_NAME_BYTES:
                raise tarfile.ReadError(f"more than {MOST_MEMBERS} members, or {MOST_NAME_BYTES} bytes of names")
            try:
                write(root, archive, member, links)
            except Refused as error:
                raise Refused(f"{member.name[:200]!r} {error}")
    finish(root, links)


def remove(path):
    """Removes a folder, or a link in its place without what it leads to."""
    if os.path.islink(path):
        os.remove(path)
    shutil.rmtree(path, ignore_errors=True)


place, wanted, target = sys.argv[1:]
shown, target = target, inside(target, "nothing is unpacked there", follow=False)
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
remove(fresh)
fresh.mkdir(parents=True)
try:
    unpack(archives[0], str(fresh.resolve()))
    tops = list(fresh.iterdir())
    if len(tops) != 1 or tops[0].is_symlink() or not tops[0].is_dir():
        sys.exit(f"{archives[0].name}: one top folder is expected")
    remove(target)
    tops[0].rename(target)
except Refused as error:
    sys.exit(f"{archives[0].name}: member {error}")
except (tarfile.TarError, EOFError, OSError, OverflowError, ValueError, zlib.error) as error:
    sys.exit(f"{archives[0].name}: it cannot be unpacked: {error}")
finally:
    remove(fresh)
print(f"{archives[0].name}: sha256 {digest}, unpacked to {shown}")
