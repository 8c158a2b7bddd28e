#!/usr/bin/env bash
# AOTriton's recipe with the real cmake and ninja, on a CMake project that stands in for AOTriton 0.13: a checkout of git
# that asks for its commit in a variable, builds with a wheel of its own Triton, and installs a tree of the same shape with
# a module that Python loads. No torch, ROCm or GPU is needed.
set -euo pipefail
# shellcheck source=tests/real/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
needs python3-venv python3-dev gcc git
needs_pypi cmake ninja
export PATH=$tools/bin:$PATH

step "write the stand-ins"
cd "$work"
mkdir -p sources/third_party/triton/triton modules/rocm_sdk modules/torch modules/pybind11 site/torch/lib
cat >sources/CMakeLists.txt <<'TEXT'
cmake_minimum_required(VERSION 3.20)
project(aotriton NONE)
if(NOT DEFINED ENV{AOTRITON_CI_SUPPLIED_SHA1} OR NOT DEFINED ENV{AOTRITON_GIT_TREESHA1})
  message(FATAL_ERROR "define AOTRITON_CI_SUPPLIED_SHA1 and AOTRITON_GIT_TREESHA1")
endif()
if(NOT EXISTS "${AOTRITON_USE_LOCAL_TRITON_WHEEL}")
  message(FATAL_ERROR "no wheel of Triton: ${AOTRITON_USE_LOCAL_TRITON_WHEEL}")
endif()
file(WRITE ${CMAKE_BINARY_DIR}/commits.txt "$ENV{AOTRITON_CI_SUPPLIED_SHA1} $ENV{AOTRITON_GIT_TREESHA1}\n")
set(AOTRITON_VERSION_MAJOR_INT 0)
set(AOTRITON_VERSION_MINOR_INT 13)
set(AOTRITON_VERSION_PATCH_INT 0)
set(name libaotriton_v2.so.0.13.0)
file(WRITE ${CMAKE_BINARY_DIR}/told.txt "${AOTRITON_TARGET_ARCH} ${CMAKE_BUILD_TYPE} ${AOTRITON_GPU_BUILD_TIMEOUT} $ENV{ROCM_PATH}\n")
add_custom_command(OUTPUT ${name} COMMAND ${CMAKE_COMMAND} -E echo built >>${CMAKE_BINARY_DIR}/built.txt
                   COMMAND ${CMAKE_COMMAND} -E touch ${name})
add_custom_target(library ALL DEPENDS ${name})
execute_process(COMMAND sh -c "gcc -shared -fPIC $(\"${Python3_EXECUTABLE}\" -c 'import sysconfig; print(\"-I\" + sysconfig.get_path(\"include\"))') -o ${CMAKE_BINARY_DIR}/pyaotriton.so ${CMAKE_SOURCE_DIR}/module.c" COMMAND_ERROR_IS_FATAL ANY)
file(WRITE ${CMAKE_BINARY_DIR}/images/aotriton.images/amd-gfx942/flash/attn_fwd.zip "kernel")
file(WRITE ${CMAKE_BINARY_DIR}/flash.h "#pragma once\n")
install(FILES ${CMAKE_BINARY_DIR}/${name} ${CMAKE_BINARY_DIR}/pyaotriton.so DESTINATION lib)
install(CODE "file(CREATE_LINK ${name} \${CMAKE_INSTALL_PREFIX}/lib/libaotriton_v2.so SYMBOLIC)")
install(DIRECTORY ${CMAKE_BINARY_DIR}/images/aotriton.images DESTINATION lib)
install(FILES ${CMAKE_BINARY_DIR}/flash.h DESTINATION include/aotriton)
TEXT
cat >sources/module.c <<'TEXT'
#include <Python.h>

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "pyaotriton", NULL, -1, NULL};

PyMODINIT_FUNC PyInit_pyaotriton(void) {
  return PyModule_Create(&definition);
}
TEXT
cat >sources/third_party/triton/pyproject.toml <<'TEXT'
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "triton"
version = "3.6.0"
TEXT
touch sources/third_party/triton/triton/__init__.py
git -C sources init -q
git -C sources add .
git -C sources -c user.name=a -c user.email=a@example.org commit -q -m sources
touch modules/{rocm_sdk,torch,pybind11}/__init__.py site/torch/__init__.py
cat >modules/rocm_sdk/__main__.py <<'TEXT'
import sys

said = {"version": "7.14.0", "targets": "gfx942"}
print(said.get(sys.argv[1]) or "/opt/sdk" + {"--root": "", "--cmake": "/lib/cmake", "--bin": "/bin"}[sys.argv[-1]])
TEXT
cat >m.yaml <<'TEXT'
version: 1
distribution: aotriton
recipe: aotriton
axes: {aotriton: ["0.13.0"], rocm: ["7.14.0"]}
unknown: lenient
torch-from: host
python-from: host
gfx: [gfx942]
vars: {aotriton-dir: sources, rocm-from: installed, install-to: site}
TEXT
export PYTHONPATH=$work/modules

step "build, pack and place it"
rock build --all --matrix m.yaml
job=$work/.rock/aotriton-0.13.0-rocm7.14.0-gfx942
expect_equal "what cmake was told" "gfx942 Release 0 /opt/sdk" "$(cat "$job/build/told.txt")"
expect_equal "commit and tree" "$(git -C sources rev-parse HEAD 'HEAD^{tree}' | paste -sd' ')" "$(cat "$job/build/commits.txt")"
expect_match "what loads the module" "pyaotriton 0[.]13[.]0 is loaded from $job/install_dir/lib/pyaotriton[.]so" "$(cat "$job/logs/build.log")"
expect_equal "how often the library was built" 1 "$(grep -c built "$job/build/built.txt")"
archive=$(find dist -name '*-tree.tar.gz')
expect_equal "the archive" dist/aotriton-0.13.0+rocm7.14-gfx942-linux_x86_64-tree.tar.gz "$archive"
members=$(tar -tzf "$archive" | grep -v '/$' | sort | paste -sd' ')
expect_equal "its files" "aotriton/include/aotriton/flash.h aotriton/lib/aotriton.images/amd-gfx942/flash/attn_fwd.zip aotriton/lib/libaotriton_v2.so aotriton/lib/libaotriton_v2.so.0.13.0 aotriton/lib/pyaotriton.so aotriton/share/aotriton/commit" "$members"
expect_equal "the link in torch/lib" libaotriton_v2.so.0.13.0 "$(readlink site/torch/lib/libaotriton_v2.so)"
[ -f site/pyaotriton.so ] || fail "the bindings are not in the packages"

step "go on after a library was lost: only what is missing is done again"
rm -r "$job/install_dir"
rock build --all --matrix m.yaml --continue install
expect_equal "how often the library was built" 1 "$(grep -c built "$job/build/built.txt")"
