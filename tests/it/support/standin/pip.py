"""Stands in for pip where it is not pip that is tested: it starts in a tenth of the time.

Takes the calls of the recipes, and no others. Installs wheels that are named or that the wheelhouse has, and folders
that `standin.py` builds; the requirement `rocm` is the folder `sdk` beside the virtual environment.
"""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

SITE = sysconfig.get_paths()["purelib"]


def normal(name):
    return re.sub(r"[-_.]+", "_", name).lower()


def remove(name):
    """Removes what RECORD lists, and the folders that are empty then."""
    for info in glob.glob(os.path.join(glob.escape(SITE), "*.dist-info")):
        if normal(os.path.basename(info).split("-")[0]) != normal(name):
            continue
        with open(os.path.join(info, "RECORD"), encoding="utf-8") as file:
            paths = [os.path.join(SITE, line.split(",")[0]) for line in file if line.strip()]
        for path in filter(os.path.isfile, paths):
            os.remove(path)
        shutil.rmtree(info, ignore_errors=True)
        for folder in sorted({os.path.dirname(path) for path in paths} - {SITE}, key=len, reverse=True):
            shutil.rmtree(os.path.join(folder, "__pycache__"), ignore_errors=True)
            if os.path.isdir(folder) and not os.listdir(folder):
                os.rmdir(folder)


def unpack(wheel, target):
    project, version = os.path.basename(wheel).split("-")[:2]
    with zipfile.ZipFile(wheel) as archive:
        head = archive.read(f"{project}-{version}.dist-info/METADATA").decode().split("\n\n")[0]
        said = dict(line.split(": ", 1) for line in head.splitlines() if ": " in line)
        if normal(said["Name"]) != normal(project) or said["Version"] != version:
            sys.exit(f"{wheel}: the metadata says {said['Name']} {said['Version']}")
        if target == SITE:
            remove(project)
        archive.extractall(target)


def install(wanted, target):
    name = re.split(r"[\[=<>~!; ]", wanted)[0]
    if wanted.endswith(".whl"):
        unpack(wanted, target)
    elif os.path.isdir(wanted):
        with tempfile.TemporaryDirectory() as made:
            build = "import standin, sys; standin.build_wheel(sys.argv[1])"
            subprocess.run([sys.executable, "-c", build, made], cwd=wanted, check=True)
            unpack(*glob.glob(os.path.join(made, "*.whl")), target)
    elif name == "rocm":
        shutil.copytree(os.path.join(os.path.dirname(sys.prefix), "sdk"), target, dirs_exist_ok=True)
    else:
        wheelhouse = glob.escape(given.find_links or os.environ["PIP_FIND_LINKS"])
        found = glob.glob(os.path.join(wheelhouse, f"{normal(name)}-*.whl"))
        if len(found) != 1:
            sys.exit(f"{wanted}: {len(found)} wheels are in the wheelhouse")
        unpack(found[0], target)


parser = argparse.ArgumentParser(prog="pip")
commands = parser.add_subparsers(dest="command", required=True)
installs = commands.add_parser("install")
for flag in ["--quiet", "--no-deps", "--no-index", "--force-reinstall", "--pre"]:
    installs.add_argument(flag, action="store_true")
for option in ["--target", "--find-links"]:
    installs.add_argument(option)
installs.add_argument("-r", dest="files", action="append", default=[])
installs.add_argument("wanted", nargs="*")
uninstalls = commands.add_parser("uninstall")
uninstalls.add_argument("--yes", action="store_true", required=True)
uninstalls.add_argument("names", nargs="+")
cache = commands.add_parser("cache")
cache.add_argument("names", nargs=2)
given = parser.parse_args()
if given.command == "install":
    for path in given.files:
        with open(path, encoding="utf-8") as file:
            given.wanted += file.read().split("\n")
    for wanted in filter(None, given.wanted):
        install(wanted, os.path.abspath(given.target) if given.target else SITE)
elif given.command == "uninstall":
    for name in given.names:
        remove(name)
