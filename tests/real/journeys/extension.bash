# shellcheck shell=bash
# An ordinary HIP extension with a plain setup.py, as a person has it. Sourced by journeys after lib.sh.

# `write_extension FOLDER NAME VERSION`: writes the project; its module counts the devices.
write_extension() {
  mkdir -p "$1/$2" "$1/csrc"
  cat >"$1/setup.py" <<PY
import os
import subprocess
import sysconfig

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext


class BuildHip(build_ext):
    def build_extension(self, ext):
        output = self.get_ext_fullpath(ext.name)
        os.makedirs(os.path.dirname(output), exist_ok=True)
        targets = [f"--offload-arch={gfx}" for gfx in os.environ.get("PYTORCH_ROCM_ARCH", "gfx90a").split(";")]
        include = "-I" + sysconfig.get_paths()["include"]
        subprocess.check_call(["hipcc", "-shared", "-fPIC", "-O2", *targets, include, *ext.sources, "-o", output])


setup(
    name="$2",
    version="$3",
    packages=["$2"],
    ext_modules=[Extension("$2._kernels", ["csrc/kernels.hip"])],
    cmdclass={"build_ext": BuildHip},
)
PY
  echo 'from ._kernels import device_count' >"$1/$2/__init__.py"
  sed "s/_vecadd/_kernels/g" "$repo/examples/hip-extension/csrc/vecadd.hip" >"$1/csrc/kernels.hip"
}
