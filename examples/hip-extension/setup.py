"""Builds the one extension module with hipcc.

The environment decides what the metadata alone cannot say:

- `PYTORCH_ROCM_ARCH`: the gfx targets, separated by `;` (or spaces or commas), as PyTorch's own extension builder reads it.
- `HIPCC`: the compiler; `hipcc` from PATH where it is unset.
"""

import os
import re
import subprocess
import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

DEFAULT_TARGETS = "gfx906;gfx90a;gfx1030"


def gfx_targets():
    """The targets to compile for: sorted out of one variable, each once, in the order given."""
    asked = os.environ.get("PYTORCH_ROCM_ARCH") or DEFAULT_TARGETS
    targets = list(dict.fromkeys(re.split(r"[;,\s]+", asked.strip("; ,"))))
    for target in targets:
        if not re.fullmatch(r"gfx[0-9a-f]+(?:-[0-9a-z-]+)?(?::[a-z]+[+-])*", target):
            raise SystemExit(f"PYTORCH_ROCM_ARCH: `{target}` is not a gfx target")
    return targets


class BuildHip(build_ext):
    """Compiles a `.hip` source straight to a shared library: one command, host and device code together."""

    def build_extension(self, ext):
        output = Path(self.get_ext_fullpath(ext.name))
        output.parent.mkdir(parents=True, exist_ok=True)
        subprocess.check_call(
            [
                os.environ.get("HIPCC", "hipcc"),
                *("-shared", "-fPIC", "-O2", "-x", "hip"),
                *(f"--offload-arch={target}" for target in gfx_targets()),
                f"-I{sysconfig.get_paths()['include']}",
                *ext.sources,
                *("-o", str(output)),
            ]
        )


setup(
    ext_modules=[Extension("rmx_vecadd._vecadd", ["csrc/vecadd.hip"])],
    cmdclass={"build_ext": BuildHip},
)
