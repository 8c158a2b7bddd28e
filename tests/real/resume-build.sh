#!/usr/bin/env bash
# A package in the folder where the program is called fails to compile, is fixed, and the build resumes by the printed command:
# pip and setuptools compile only what changed.
set -euo pipefail
# shellcheck source=tests/real/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
needs "${torch_packages[@]}" "${hip_packages[@]}" git

project=$work/project
mkdir -p "$project/src/resume_demo" "$project/csrc"
cd "$project"
cat >pyproject.toml <<'TOML'
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "resume-demo"
version = "1.0"
TOML
cat >setup.py <<'PY'
import pathlib
import subprocess

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext


class BuildKernel(build_ext):
    """Compiles the kernel as make would: where its object is missing or older."""

    def run(self):
        source, kernel = pathlib.Path("csrc/kernel.hip"), pathlib.Path(self.build_temp, "kernel.o")
        kernel.parent.mkdir(parents=True, exist_ok=True)
        if not kernel.exists() or kernel.stat().st_mtime < source.stat().st_mtime:
            subprocess.check_call(["hipcc", "-fPIC", "--offload-arch=gfx90a", "-c", source, "-o", kernel])
        self.extensions[0].extra_objects = [str(kernel)]
        super().run()


setup(
    cmdclass={"build_ext": BuildKernel},
    package_dir={"": "src"},
    packages=["resume_demo"],
    ext_modules=[Extension(f"resume_demo.{name}", [f"csrc/{name}.c"], libraries=["amdhip64"]) for name in ("one", "two")],
)
PY
module() {
  printf '#include <Python.h>
static PyObject *answer(PyObject *self, PyObject *none) { return PyLong_FromLong(%s)%s }
static PyMethodDef methods[] = {{"answer", answer, METH_NOARGS, ""}, {0}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "%s", "", -1, methods};
PyMODINIT_FUNC PyInit_%s(void) { return PyModule_Create(&definition); }\n' "$2" "$3" "$1" "$1" >"csrc/$1.c"
}
module one 41 ';'
module two 42 ''
printf 'from resume_demo.one import answer as one\nfrom resume_demo.two import answer as two\n' >src/resume_demo/__init__.py
printf '#include <hip/hip_runtime.h>\n__global__ void kernel(int *out) { *out = 1; }\n' >csrc/kernel.hip
printf 'old = True\n' >src/resume_demo/old.py
printf 'data/\n' >.gitignore
mkdir data
head -c 3000000 /dev/zero >data/weights.bin
git init -q .
cat >matrix.yaml <<YAML
version: 1
distribution: resume-demo
recipe: hip-extension
axes:
  resume-demo: ["1.0"]
  python: ["3.11"]
  rocm: ["5.2"]
gfx: [gfx90a]
torch-from: host
python-from: host
vars: {source: ".", module: resume_demo, isolation: "off", python: $host_python}
YAML

step "the plan names what is left out of the copy"
said=$(rock plan matrix.yaml)
expect_match "the plan" 'note: source .extension. is copied from .\.. without \.git, \.rock,' "$said"

step "a build with an error in one file fails and prints how to resume"
expect_equal "the exit code" 4 "$(code_of rock build --all --matrix matrix.yaml)"
command=$(sed -nE 's/^help: fix the cause, then run .(rock-matrix .*).$/\1/p' "$work/out" | tail -n 1)
expect_equal "the command" "rock-matrix build --all --matrix matrix.yaml --resume" "$command"
expect_match "the first note" "B050 step-failed.*first error in its output is +[^ ]*two\\.c:[0-9]+:[0-9]+: error: " "$(tr "\\n" " " <"$work/out")"
copy=$(echo .rock/*/src/extension)
if [ -e "$copy/data" ] || [ -e "$copy/.rock" ]; then fail "ignored files were copied: $(ls -A "$copy")"; fi
times() { find "$copy/build" -name one.o -printf '%t %p\n' -o -name kernel.o -printf '%t %p\n' | sort; }
before=$(times)
expect_match "the objects" 'kernel\.o.*one\.o' "$(tr '\n' ' ' <<<"$before")"

step "that command builds the fixed source, and compiles nothing else"
module two 42 ';'
eval "${command/#rock-matrix/rock}"
expect_equal "the times of the objects" "$before" "$(times)"
wheel=$(echo dist/*.whl)
fresh_environment "$work/venv"
"$work/venv/bin/pip" install -q --no-deps --no-index "$wheel"
said=$("$work/venv/bin/python" -c 'import resume_demo; print(resume_demo.one(), resume_demo.two())')
expect_equal "the answers" "41 42" "$said"
members=$("$host_python" -m zipfile -l "$wheel")
expect_match "the members" 'resume_demo/old.py' "$members"

step "a file that the source no longer has is not in the next wheel"
rm src/resume_demo/old.py
rock build --all --matrix matrix.yaml --continue auto
members=$("$host_python" -m zipfile -l "$wheel")
if [[ $members == *old.py* ]]; then fail "old.py is still in the wheel: $members"; fi

step "nothing is built again where nothing changed"
said=$(rock build --all --matrix matrix.yaml --continue auto 2>&1)
expect_match "the second run" 'skipped [0-9]+ completed stages' "$said"
