#!/usr/bin/env python3
"""The wheel finder with 3,000 wheels: time to filter beside a bare Array.filter, and sizes.

    python3 benches/finder.py [--binary target/dist/rock-matrix] [--rounds 60] [--node-path DIR]

Chromium and playwright-core must be there; `scripts/test --only finder` installs them. Prints each bar with what was
measured, and exits with 1 when one is missed.
"""

import argparse
import gzip
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
WHEELS = 3000


def cache():
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return pathlib.Path(os.environ.get("ROCK_CACHE_DIR") or os.path.join(home, "rock-matrix"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", default=str(HERE.parent / "target/dist/rock-matrix"))
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--node-path", default=str(cache() / "npm/node_modules"))
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        subprocess.run([sys.executable, HERE.parent / "tests/real/finder_data.py", folder, str(WHEELS)], check=True)
        page = folder / "page.html"
        published = ["--published", folder / "releases.json", "--published", folder / "rock-manifest.json"]
        subprocess.run([args.binary, "report", "page", "--quiet", *published, "--out", page], check=True)
        text = page.read_bytes()
        data = re.search(rb'id="data">(.*?)</script>', text, re.S).group(1)
        environment = os.environ | {"NODE_PATH": args.node_path}
        command = ["node", HERE / "finder.js", page, str(args.rounds)]
        timed = json.loads(subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout)
    packed = len(gzip.compress(data, 9, mtime=0))
    rows = [
        ("page beside its data", len(text) - len(data), 100_000, "bytes"),
        (f"data of {timed['wheels']} wheels, gzip -9", packed, 400_000, "bytes"),
        (f"filter beside a bare one ({timed['ours']:.2f} ms beside {timed['bare']:.2f} ms)", timed["ours"] / timed["bare"], 3, "times"),
    ]
    missed = False
    for what, measured, bar, unit in rows:
        is_missed = measured > bar
        missed |= is_missed
        shown = f"{measured:.2f}" if unit == "times" else f"{measured:,}"
        print(f"{what}: {shown} {unit}, at most {bar:,}{'  MISSED' if is_missed else ''}")
    sys.exit(missed)


main()
