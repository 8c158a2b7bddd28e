"""Copies the libraries of this system that an installed wheel needs, so that it can be repaired where they are not.

Arguments: the folder that the wheel is installed in, the target, and shell patterns of the names and paths of libraries that
stay outside of the wheel. A library is copied to its path below the target; what libraries need that stay outside is left.
"""
import fnmatch
import glob
import os
import shutil
import struct
import subprocess
import sys


def needed(path):
    """The names of the libraries that an ELF file needs, or None for another file."""
    with open(path, "rb") as file:
        head = file.read(64)
        if len(head) < 52 or head[:4] != b"\x7fELF":
            return None
        wide, order = head[4] == 2, "<" if head[5] == 1 else ">"
        start, size, count = (
            struct.unpack_from(order + ("Q" if wide else "I"), head, 32 if wide else 28)
            + struct.unpack_from(order + "HH", head, 54 if wide else 42)
        )
        file.seek(start)
        table = file.read(size * count)
        segments = []
        for number in range(count):
            if wide:
                kind, _, offset, address, _, length = struct.unpack_from(order + "IIQQQQ", table, number * size)
            else:
                kind, offset, address, _, length = struct.unpack_from(order + "IIIII", table, number * size)
            segments.append((kind, offset, address, length))
        entries = []
        for kind, offset, _, length in segments:
            if kind == 2:
                file.seek(offset)
                entries = list(struct.iter_unpack(order + ("qQ" if wide else "iI"), file.read(length // 8 * 8)))
        strings = next((value for tag, value in entries if tag == 5), None)
        names = []
        for tag, value in entries:
            if tag != 1 or strings is None:
                continue
            for kind, offset, address, length in segments:
                if kind == 1 and address <= strings < address + length:
                    file.seek(offset + strings - address + value)
                    names.append(file.read(4096).split(b"\0")[0].decode(errors="surrogateescape"))
                    break
        return names


def found(path, loaders):
    """Where the loader finds what a library needs, directly or not: name to path."""
    for loader in loaders:
        listed = subprocess.run([loader, "--list", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        if listed.returncode == 0:
            lines = listed.stdout.decode(errors="surrogateescape").splitlines()
            pairs = (line.strip().split(" => ") for line in lines if " => /" in line)
            return {name: where.rsplit(" (", 1)[0] for name, where in pairs}
    return {}


installed, target, *patterns = sys.argv[1:]


def stays(text):
    return any(fnmatch.fnmatchcase(text, pattern) for pattern in patterns)


loaders = sorted(glob.glob("/lib*/ld-linux*.so.*") + glob.glob("/lib/ld-musl-*.so.1"))
own = [os.path.join(folder, name) for folder, _, names in os.walk(installed) for name in names if ".so" in name]
copied = set()
for path in own:
    names = needed(path)
    if not names:
        continue
    places = found(path, loaders)
    while names:
        name = names.pop()
        place = places.get(name)
        if place is None or place in copied or stays(name) or stays(place) or os.path.realpath(place).startswith(os.path.realpath(installed) + os.sep):
            continue
        copied.add(place)
        copy = target + os.path.normpath(place)
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        shutil.copyfile(place, copy)
        names.extend(needed(copy) or [])
# Where the loader of this system found them, as its configuration for those who search below the target.
os.makedirs(os.path.join(target, "etc"), exist_ok=True)
with open(os.path.join(target, "etc/ld.so.conf"), "w") as file:
    file.writelines(f"{folder}\n" for folder in sorted({os.path.dirname(os.path.normpath(place)) for place in copied}))
print(f"{len(copied)} libraries of this system copied to {target}")
