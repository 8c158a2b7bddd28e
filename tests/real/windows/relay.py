"""Answers tests/real/windows/python.c: `relay.py FOLDER ROOT LOG` runs Python for each request in FOLDER.

Wine shows this machine's files below Z:, so paths below ROOT are turned into those of this machine.
"""
import os
import pathlib
import re
import subprocess
import sys
import time

folder, root, log = pathlib.Path(sys.argv[1]), sys.argv[2], open(sys.argv[3], "wb")
below = re.compile(re.escape("Z:" + root.replace("/", "\\")) + r"(\\[^;\"]*)?")


def here(text):
    return below.sub(lambda found: root + (found[1] or "").replace("\\", "/"), text)


while True:
    for ready in folder.glob("*.ready"):
        words = ready.read_bytes().decode().split("\0")[:-1]
        split = words.index("\x01")
        variables = dict(one.split("=", 1) for one in words[split + 1 :] if not one.startswith("="))
        variables = {name: here(text) for name, text in variables.items() if name.upper() != "PATH"}
        command = [sys.executable, *(here(word).replace("words\\run.py", "words/run.py") for word in words[1:split])]
        run = subprocess.run(
            command, cwd=here(words[0]), env={**variables, "PATH": os.environ["PATH"]}, stdout=log, stderr=log
        )
        log.flush()
        ready.unlink()
        answer = folder / (ready.stem + ".answer")
        answer.write_text(str(run.returncode))
        answer.rename(folder / (ready.stem + ".done"))
    time.sleep(0.005)
