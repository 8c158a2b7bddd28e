"""Installs built wheels into a folder of their own and tries that of the distribution.

Arguments: glob of the wheels, the distribution, its expected version or nothing, a Python program that needs no GPU or
nothing, one for a machine with a GPU or nothing. Whatever goes wrong ends with an error.
"""
import glob
import importlib.metadata
import os
import pathlib
import re
import shutil
import subprocess
import sys



def normal(name):
    return re.sub(r"[-_.]+", "_", name).lower()


pattern, distribution, wanted, without_gpu, with_gpu = sys.argv[1:]
wheels = sorted(glob.glob(pattern))
own = [wheel for wheel in wheels if normal(os.path.basename(wheel).split("-")[0]) == normal(distribution)]
if len(own) != 1:
    sys.exit(f"{pattern}: one wheel of {distribution} is expected, {len(own)} are there")
target = pathlib.Path("smoke").resolve()
shutil.rmtree(target, ignore_errors=True)
install = ["-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(target), *wheels]
subprocess.run([sys.executable, *install], check=True)
sys.path.insert(0, str(target))
found = importlib.metadata.version(distribution)
if wanted and found != wanted:
    sys.exit(f"{distribution}: the installed metadata says {found}, the plan says {wanted}")
print(f"{distribution} {found} is installed")
if without_gpu:
    exec(compile(without_gpu, "test.cpu", "exec"), {"__name__": "__main__"})
if with_gpu and os.access("/dev/kfd", os.R_OK | os.W_OK):
    exec(compile(with_gpu, "test.gpu", "exec"), {"__name__": "__main__"})
