"""Places files of a built tree in folders of an environment: all of them, or none.

Arguments: the folder; a path that must be there in it, or nothing; and for each row in turn: the glob of what is taken;
`one` or `some`, how many must match; the name of a link beside it, or nothing; the glob of what goes away first, or
nothing; how many folders follow, and the folders. A folder that is taken replaces the one that is there.

Everything is copied beside its place first, then moved there; a journal says how far that came. What cannot be moved is
taken back; what was killed between is finished by the next run.
"""
import glob
import json
import os
import shutil
import sys

JOURNAL, NEW, OLD = ".rock-place.json", ".rock-new-", ".rock-old-"


def remove(path):
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.remove(path)


def beside(path, mark):
    folder, name = os.path.split(path)
    return os.path.join(folder, mark + name)


def saved(journal, content):
    try:
        with open(journal + ".new", "w", encoding="utf-8") as file:
            json.dump(content, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(journal + ".new", journal)
    except OSError:
        remove(journal + ".new")
        raise


def moved(target, is_kept):
    """Puts what lies ready in its place, and what was there aside; either may be done already."""
    if is_kept and not os.path.lexists(beside(target, NEW)):
        return
    if os.path.lexists(target) and not os.path.lexists(beside(target, OLD)):
        os.rename(target, beside(target, OLD))
    if is_kept:
        os.rename(beside(target, NEW), target)


def taken_back(target, is_kept):
    """The other way round, so that a run that is killed here can still be finished."""
    if is_kept and os.path.lexists(target) and not os.path.lexists(beside(target, NEW)):
        os.rename(target, beside(target, NEW))
    if os.path.lexists(beside(target, OLD)):
        os.rename(beside(target, OLD), target)


def ended(journal, targets):
    for target in targets:
        remove(beside(target, OLD))
        remove(beside(target, NEW))
    os.remove(journal)


def finish_last(journal):
    """Finishes what an earlier run was killed at, or clears what it had only begun."""
    with open(journal, encoding="utf-8") as file:
        last = json.load(file)
    if last["moves"]:
        for target, is_kept in last["targets"].items():
            moved(target, is_kept)
        print("what an earlier run had begun to place is in place")
    ended(journal, last["targets"])


def place(journal, copies, links, targets):
    saved(journal, {"moves": False, "targets": targets})
    reached = []
    try:
        for target, path in copies.items():
            remove(beside(target, NEW))
            if os.path.isdir(path):
                shutil.copytree(path, beside(target, NEW), symlinks=True)
            else:
                shutil.copy2(path, beside(target, NEW))
        for target, name in links.items():
            remove(beside(target, NEW))
            os.symlink(name, beside(target, NEW))
        saved(journal, {"moves": True, "targets": targets})
        for target, is_kept in targets.items():
            reached.append(target)
            moved(target, is_kept)
    except OSError:
        for target in reversed(reached):
            taken_back(target, targets[target])
        saved(journal, {"moves": False, "targets": targets})
        ended(journal, targets)
        raise
    ended(journal, targets)


def rows(words):
    while words:
        pattern, need, link, gone, count = *words[:4], int(words[4])
        folders, words = words[5 : 5 + count], words[5 + count :]
        yield pattern, need, link, gone, folders


into, needed, *words = sys.argv[1:]
into = os.path.abspath(into)
if not os.path.isdir(into):
    sys.exit(f"{into}: there is no such folder")
if needed and not glob.glob(os.path.join(glob.escape(into), needed)):
    sys.exit(f"{into}: {needed} is not there, so this is no place for these files; install what has it first")
journal = os.path.join(into, JOURNAL)
if os.path.exists(journal):
    finish_last(journal)
copies, links, leaving, faults = {}, {}, [], []
for pattern, need, link, gone, folders in rows(words):
    found = sorted(path for path in glob.glob(pattern) if not os.path.islink(path))
    if not found or (need == "one" and len(found) > 1):
        faults.append(f"{pattern}: {'one is' if need == 'one' else 'some are'} expected, there are {', '.join(found) or 'none'}")
        continue
    names = [os.path.basename(path) for path in found]
    for folder in folders:
        folder = os.path.normpath(os.path.join(into, folder))
        if not os.path.isdir(folder):
            faults.append(f"{folder}: there is no such folder")
        copies.update((os.path.join(folder, name), path) for name, path in zip(names, found))
        if link and os.name != "nt":
            links[os.path.join(folder, link)] = names[0]
        if gone:
            leaving += glob.glob(os.path.join(glob.escape(folder), gone))
if faults:
    sys.exit("\n".join(faults))
if not into.isascii() and any(path.endswith(".dll") for path in copies):
    print(f"warning: {into} has letters beyond ASCII, and a library of Windows may not find the files beside it from there")

targets = {**dict.fromkeys(leaving, False), **dict.fromkeys([*copies, *links], True)}
try:
    place(journal, copies, links, targets)
except OSError as error:
    again = "what was begun is finished when it is run again" if os.path.exists(journal) else "nothing is changed"
    sys.exit(f"{error}; {again}")
for target in sorted(targets):
    shown = os.path.relpath(target, into)
    if target in links:
        print(f"{shown} -> {links[target]}")
    else:
        print(shown if targets[target] else f"{shown}: removed")
print(f"{len(copies) + len(links)} placed in {into}")
