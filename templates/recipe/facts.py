"""Asks facts of the place where a build runs.

Arguments, for each fact in turn: its name; `command`, `file` or `path`; `-`, or `=` and what to take when there is no
answer; the number of words that follow, and the words: a command, a file and a pattern or nothing, or paths of which
the first that is there is taken. An answer is trimmed; it goes into `facts/NAME`, where later steps read it.
"""
import os
import re
import subprocess
import sys

MAX_FILE_BYTES = 1 << 20  # the limit of the program for facts that it reads before the build


def of_command(*command):
    try:
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600)
    except (OSError, subprocess.TimeoutExpired) as error:
        return None, str(error)
    if run.returncode == 0:
        # What it warns of.
        sys.stderr.write(run.stderr.decode("utf-8", "replace"))
        return run.stdout.decode("utf-8", "replace").strip(), f"`{command[0]}` says nothing"
    said = run.stderr.decode("utf-8", "replace").strip().splitlines()
    return None, (said[-1] if said else f"`{command[0]}` ended with {run.returncode}")


def of_file(path, find=""):
    try:
        with open(path, "rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
        text = content.decode("utf-8").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError) as error:
        return None, str(error)
    if len(content) > MAX_FILE_BYTES:
        return None, f"{path} has more than {MAX_FILE_BYTES} bytes"
    if not find:
        return text.strip(), f"{path} is empty"
    found = re.search(find, text)
    return (found[min(found.re.groups, 1)] or "").strip() if found else None, f"nothing in {path} matches {find!r}"


def of_path(*paths):
    return next((path for path in paths if os.path.exists(path)), None), f"not there: {' '.join(paths)}"


kinds = {"command": of_command, "file": of_file, "path": of_path}
os.makedirs("facts", exist_ok=True)
words, missing = sys.argv[1:], []
while words:
    name, kind, default, count = *words[:3], int(words[3])
    asked, words = words[4 : 4 + count], words[4 + count :]
    answer, why = kinds[kind](*asked)
    if not answer and not default.startswith("="):
        missing.append(f"the fact `{name}` has no value: {why}")
        continue
    print(f"{name}: {answer or default[1:] or 'none'}" + ("" if answer else f" ({why})"))
    with open(f"facts/{name}.new", "w", encoding="utf-8") as file:
        file.write(answer or default[1:])
    os.replace(f"facts/{name}.new", f"facts/{name}")
if missing:
    sys.exit("\n".join(missing))
