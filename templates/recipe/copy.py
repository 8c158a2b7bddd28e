"""Makes the target the same as a source tree, without what is left out. Arguments: the tree, the target, patterns of what
is left out. A pattern that starts with a slash is a path from the top of the tree, any other is a name anywhere in it. What
git ignores is left out too, and so are releases that were published there and virtual environments.

Files of an earlier copy stay as they are where the tree has not changed, so that what was compiled from them stays valid;
those that the tree no longer has are removed, and files that the build made are kept. `TARGET.copied` notes what was
copied, and `TARGET.commit` the commit of a tree under git, with git's name of its content in a second line.
"""
import filecmp
import fnmatch
import json
import os
import shutil
import stat
import subprocess
import sys
import time

# Files at the top of a release and of a virtual environment (PEP 405).
MARKS = ("rock-manifest.json", "pyvenv.cfg")

tree, target, *patterns = sys.argv[1:]
place = inside(target, "nothing is copied there", follow=False)
if not os.path.isdir(tree):
    sys.exit(f"{tree}: there is no such folder")


def ask_git(folder, *words):
    """Returns what git prints about a folder, or nothing where it fails or is missing."""
    # In a container the tree is another user's, which git would refuse to read.
    git = ["git", "-c", "safe.directory=*", "-c", "core.fsmonitor=false", "-C", folder]
    others = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")
    own = {name: value for name, value in os.environ.items() if name not in others}
    done = subprocess.run(git + list(words), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=own)
    return done.stdout if done.returncode == 0 else b""


def ignored_by_git(folder, above):
    """Returns the paths below the tree that git ignores in a folder of it, which starts a repository or is the tree."""
    # A tree that the repository around it ignores as a whole is a source of its own.
    if not above and ask_git(folder, "check-ignore", "."):
        return set()
    listed = ask_git(folder, "ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z")
    return {above + os.fsdecode(path).rstrip("/") for path in listed.split(b"\0") if path}


def is_left_out(path):
    name = path.rsplit("/", 1)[-1]
    for pattern in patterns:
        if not pattern.startswith("/"):
            if fnmatch.fnmatchcase(name, pattern):
                return True
        elif path.count("/") == pattern.count("/") - 1 and fnmatch.fnmatchcase(path, pattern[1:]):
            return True
    return False


has_git = shutil.which("git") is not None
ignored = ignored_by_git(tree, "") if has_git else set()
folders, files = [], {}


def read(folder, above):
    """Lists what is copied: folders in `folders`, and in `files` the status of each file and link."""
    with os.scandir(folder) as entries:
        entries = sorted(entries, key=lambda entry: entry.name)
    if above and has_git and any(entry.name == ".git" for entry in entries):
        ignored.update(ignored_by_git(folder, above))
    for entry in entries:
        path = above + entry.name
        if path in ignored or is_left_out(path):
            continue
        if entry.is_dir(follow_symlinks=False):
            if not any(os.path.lexists(os.path.join(entry.path, mark)) for mark in MARKS):
                folders.append(path)
                read(entry.path, path + "/")
        else:
            status = os.lstat(entry.path)
            if not (stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode)):
                sys.exit(f"{entry.path}: neither a file, a folder nor a link, so it cannot be copied")
            files[path] = status


def known_copies():
    """Returns the status of each copy as an earlier run left it; empty where nothing of one is left."""
    try:
        with open(inside(f"{target}.copied", "it is not read", follow=False), encoding="utf-8") as file:
            known = json.load(file)
        return known if isinstance(known, dict) and stat.S_ISDIR(os.lstat(place).st_mode) else {}
    except (OSError, ValueError):
        return {}


def note(copies):
    """Writes what is known of copies, through no link."""
    path = inside(f"{target}.copied", "nothing is written there", follow=False)
    if os.path.lexists(path):
        os.remove(path)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(copies, file)


def remove(path):
    if stat.S_ISDIR(os.lstat(path).st_mode):
        shutil.rmtree(path)
    else:
        os.remove(path)


def stamp(status):
    return [status.st_size, status.st_mtime_ns, stat.S_IMODE(status.st_mode)]


def is_same(source, copy, status, known):
    """Whether a copy has the content of its source, which is read only where the times do not say so."""
    try:
        found = os.lstat(copy)
    except FileNotFoundError:
        return False
    if stat.S_IFMT(found.st_mode) != stat.S_IFMT(status.st_mode):
        return False
    if stat.S_ISLNK(status.st_mode):
        return os.readlink(source) == os.readlink(copy)
    if stamp(found)[:2] == known[:2] and stamp(status)[:2] == known[3:5]:
        return True
    return found.st_size == status.st_size and filecmp.cmp(source, copy, shallow=False)


def is_known(entry):
    return isinstance(entry, list) and len(entry) == 6


read(tree, "")
known = known_copies()
kept_folders = set(folders)
if not known:
    if os.path.lexists(place):
        remove(place)
    os.makedirs(place)
# A run that is ended half-way leaves files that the next one must know to be copies.
note({**{path: [] for path in files}, **known})
is_update = bool(known)
copied, removed, copies = 0, 0, {}
for path in folders:
    copy = os.path.join(place, path)
    if os.path.lexists(copy) and not stat.S_ISDIR(os.lstat(copy).st_mode):
        os.remove(copy)
    os.makedirs(copy, exist_ok=True)
for path, status in files.items():
    source, copy = os.path.join(tree, path), os.path.join(place, path)
    entry = known.get(path) if is_known(known.get(path)) else [None] * 6
    if is_same(source, copy, status, entry):
        if not stat.S_ISLNK(status.st_mode) and stamp(os.lstat(copy))[2] != stamp(status)[2]:
            os.chmod(copy, stat.S_IMODE(status.st_mode))
    else:
        if os.path.lexists(copy):
            remove(copy)
        shutil.copy2(source, copy, follow_symlinks=False)
        if is_update and not stat.S_ISLNK(status.st_mode):
            # An older file that takes the place of a newer one is a change too, to everything that compares times.
            os.utime(copy, ns=(time.time_ns(), max(time.time_ns(), status.st_mtime_ns)))
        copied += 1
    copies[path] = stamp(os.lstat(copy)) + stamp(status)
# Only what is there is removed: the note is a file of the build as well.
for folder, names, found in os.walk(place, topdown=False):
    for name in found + [name for name in names if os.path.islink(os.path.join(folder, name))]:
        path = os.path.relpath(os.path.join(folder, name), place).replace(os.sep, "/")
        if path in known and path not in files:
            os.remove(os.path.join(folder, name))
            removed += 1
    path = os.path.relpath(folder, place).replace(os.sep, "/")
    if removed and path != "." and path not in kept_folders and not os.listdir(folder):
        os.rmdir(folder)
if removed:
    # What setuptools gathered there for the wheel holds files that are gone.
    for pattern in ("lib*", "bdist.*"):
        build = os.path.join(place, "build")
        for name in os.listdir(build) if os.path.isdir(build) and not os.path.islink(build) else []:
            if fnmatch.fnmatchcase(name, pattern):
                remove(os.path.join(build, name))
note(copies)

commit = b""
if has_git and os.path.exists(os.path.join(tree, ".git")):
    commit = ask_git(tree, "rev-parse", "HEAD", "HEAD^{tree}")
if os.path.lexists(f"{place}.commit"):
    os.remove(f"{place}.commit")  # also a link, which is not written through
if commit:
    with open(f"{place}.commit", "wb") as file:
        file.write(commit)
if not has_git:
    print("git is not here, so what it ignores is copied as well")
if is_update:
    print(f"{target} is {tree} again: {copied} of {len(files)} files copied, {removed} removed")
else:
    print(f"{tree} copied to {target}: {copied} files")
