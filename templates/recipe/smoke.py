"""Installs a built wheel into a folder of its own and tries it without a GPU.

Arguments: glob of the wheel, the distribution, its expected version or nothing, a Python program or nothing.
"""
import glob
import importlib.metadata
import pathlib
import shutil
import subprocess
import sys

pattern, distribution, wanted, program = sys.argv[1:]
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
if program:
    exec(compile(program, "test.cpu", "exec"), {"__name__": "__main__"})
