"""Stands in for `python -m build`: takes the options that it takes, and calls the backend of the tree as it does."""
import argparse
import importlib
import os
import re
import subprocess
import sys

parser = argparse.ArgumentParser(prog="python -m build")
parser.add_argument("srcdir", nargs="?", default=".")
parser.add_argument("--wheel", action="store_true", required=True)
parser.add_argument("--no-isolation", action="store_true", required=True)
parser.add_argument("--outdir", required=True)
parser.add_argument("--config-setting", "-C", action="append", default=[])
given = parser.parse_args()
os.chdir(given.srcdir)
if not os.path.exists("pyproject.toml"):
    sys.exit(subprocess.run([sys.executable, "setup.py", "bdist_wheel", "--dist-dir", given.outdir]).returncode)
settings = {}
for setting in given.config_setting:
    name, _, value = setting.partition("=")
    known = settings.get(name)
    settings[name] = value if known is None else [*(known if isinstance(known, list) else [known]), value]
backend = re.search(r'(?m)^build-backend = "(\w+)"', open("pyproject.toml").read())[1]
sys.path.insert(0, os.getcwd())
print("made", importlib.import_module(backend).build_wheel(given.outdir, settings))
