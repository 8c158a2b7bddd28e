"""Installs a built wheel into a folder of its own and tries it.

Arguments: glob of the wheel, the distribution, its expected version or nothing, a Python program that needs no GPU or
nothing, one for a machine with a GPU or nothing. Whatever goes wrong ends with an error.
"""
import glob
import importlib.metadata
import os
import pathlib
import shutil
import subprocess
import sys

pattern, distribution, wanted, without_gpu, with_gpu = sys.argv[1:]
wheels = glob.glob(pattern)
if len(wheels) != 1:
    sys.exit(f"{pattern}: one wheel is expected, {len(wheels)} are there")
target = pathlib.Path("smoke").resolve()
shutil.rmtree(target, ignore_errors=True)
install = ["-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(target), wheels[0]]
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
