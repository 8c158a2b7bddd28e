"""Records what a build really used. Arguments: the file to write, then name and command in turn.

Each command is one text, split like a shell would; its first line of output is kept, or why there is none.
"""
import json
import shlex
import subprocess
import sys

used = {}
for name, command in zip(sys.argv[2::2], sys.argv[3::2]):
    try:
        run = subprocess.run(shlex.split(command), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=120)
        lines = run.stdout.decode("utf-8", "replace").strip().splitlines()
        used[name] = lines[0] if run.returncode == 0 and lines else None
    except (OSError, subprocess.TimeoutExpired):
        used[name] = None
with open(sys.argv[1], "w", encoding="utf-8") as file:
    json.dump(used, file, indent=2, sort_keys=True)
    file.write("\n")
for name, value in sorted(used.items()):
    print(f"{name}: {value}")
