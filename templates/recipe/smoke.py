"""Installs built wheels into a folder of their own and tries that of the distribution.

Arguments: glob of the wheels, the distribution, its expected version or nothing, a Python program that needs no GPU or
nothing, one for a machine with a GPU or nothing, the gfx targets that there is code for or nothing, and `program` or
`pytest` with further arguments of that: how the second one is run. It runs in a process of its own for each kind of GPU
that there is code for. Whatever goes wrong ends with an error.
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


def kinds_of_gpu():
    """The number of the first GPU of each kind; HIP numbers them as the driver lists them."""
    found, number = {}, 0
    nodes = pathlib.Path("/sys/class/kfd/kfd/topology/nodes")
    for node in sorted(nodes.iterdir() if nodes.is_dir() else [], key=lambda node: int(node.name)):
        try:
            properties = dict(line.split(None, 1) for line in (node / "properties").read_text().splitlines())
        except OSError:
            # What a container may not see has no number in it.
            continue
        version = int(properties.get("gfx_target_version", 0))
        if version:
            found.setdefault(f"gfx{version // 10000}{version // 100 % 100:x}{version % 100:x}", number)
            number += 1
    return found


pattern, distribution, wanted, without_gpu, with_gpu, targets, how, *arguments = sys.argv[1:]
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
if not with_gpu or not os.access("/dev/kfd", os.R_OK | os.W_OK):
    sys.exit()
command = ["-c", with_gpu]
if how == "pytest":
    pathlib.Path("test_gpu.py").write_text(with_gpu, encoding="utf-8")
    command = ["-m", "pytest", *arguments, "test_gpu.py"]
processors = {name.split(":")[0] for name in targets.split(";") if name}
kinds = {kind: number for kind, number in kinds_of_gpu().items() if not processors or kind in processors}
if not kinds:
    print(f"no GPU of this machine is one of {targets or 'those that the driver lists'}, so none is tried")
code = 0
for kind, number in kinds.items():
    path = os.pathsep.join(filter(None, [str(target), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "HIP_VISIBLE_DEVICES": str(number), "PYTHONPATH": path}
    environment.pop("GPU_DEVICE_ORDINAL", None)
    print(f"on {kind}, device {number}", flush=True)
    code = subprocess.run([sys.executable, *command], env=environment).returncode or code
sys.exit(code)
