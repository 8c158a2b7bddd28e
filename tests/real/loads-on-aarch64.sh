#!/usr/bin/env bash
# What `wheel repair` makes for another processor loads there, under qemu, and a function in it is called. So do what
# packages of the SDK have for that processor: programs that stand for links, and libraries under other names.
set -euo pipefail
# shellcheck source=tests/real/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
needs gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user

step "repair a wheel for aarch64, and load what is in it under qemu"
arm=$work/aarch64
mkdir -p "$arm/host"
cross() { (cd "$arm" && aarch64-linux-gnu-gcc -Wl,--no-as-needed "$@"); }
echo 'int deep(void) { return 40; }' >"$arm/deep.c"
echo 'int deep(void); int dep(void) { return deep() + 1; }' >"$arm/dep.c"
echo 'int dep(void); int answer(void) { return dep() + 1; }' >"$arm/demo.c"
cat >"$arm/load.c" <<'C'
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char **words) {
  void *library = count > 1 ? dlopen(words[1], RTLD_NOW) : 0;
  int (*answer)(void) = library ? (int (*)(void))dlsym(library, "answer") : 0;
  puts(library && answer ? "loaded" : dlerror());
  return answer ? answer() : 1;
}
C
cross -shared -fPIC deep.c -o host/libdeep.so.2 -Wl,-soname,libdeep.so.2
cross -shared -fPIC dep.c -o host/libdep.so.1 -Wl,-soname,libdep.so.1 host/libdeep.so.2
cross -shared -fPIC demo.c -o demo.so host/libdep.so.1 -Wl,-rpath-link,host
cross load.c -o load
"$host_python" - "$arm" <<'PY'
import base64, hashlib, pathlib, sys, zipfile

folder = pathlib.Path(sys.argv[1])
members = {
    "demo/demo.so": (folder / "demo.so").read_bytes(),
    "demo-1.0.dist-info/METADATA": b"Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n",
    "demo-1.0.dist-info/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-linux_aarch64\n",
}
digest = lambda content: base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
record = "".join(f"{name},sha256={digest(content)},{len(content)}\n" for name, content in members.items())
members["demo-1.0.dist-info/RECORD"] = f"{record}demo-1.0.dist-info/RECORD,,\n".encode()
with zipfile.ZipFile(folder / "demo-1.0-py3-none-linux_aarch64.whl", "w") as wheel:
    for name, content in members.items():
        wheel.writestr(name, content)
PY
rock wheel repair "$arm/demo-1.0-py3-none-linux_aarch64.whl" --ldpaths "$arm/host" -w "$arm/out" >"$arm/repaired"
expect_match "the platform" 'manylinux_2_17_aarch64' "$(cat "$arm/repaired")"
"$host_python" -m zipfile -e "$(cat "$arm/repaired")" "$arm/installed"
expect_equal "what came along" 2 "$(find "$arm/installed/demo.libs" -name 'libde*.so.*' | wc -l)"
on_arm() { qemu-aarch64 -L /usr/aarch64-linux-gnu -E LD_BIND_NOW=1 "$arm/load" "$1"; }
expect_equal "the answer of the repaired library" 42 "$(code_of on_arm "$arm/installed/demo/demo.so")"
expect_equal "the answer without what came along" 1 "$(rm -r "$arm/installed/demo.libs" && code_of on_arm "$arm/installed/demo/demo.so")"

step "a program of the SDK that stands for a link runs the program under qemu, under its own name"
artifacts=$arm/artifacts
put() { mkdir -p "$artifacts/$1/x/stage/$(dirname "$2")" && echo x/stage >"$artifacts/$1/artifact_manifest.txt" && cat >"$artifacts/$1/x/stage/$2"; }
mkdir -p "$artifacts/base_lib_generic/base/aux-overlay/stage/share/therock"
echo base/aux-overlay/stage >"$artifacts/base_lib_generic/artifact_manifest.txt"
echo '{"rocm_version": "7.10.0", "flags": {"KPACK_SPLIT_ARTIFACTS": true}}' \
  >"$artifacts/base_lib_generic/base/aux-overlay/stage/share/therock/therock_manifest.json"
cat >"$arm/names.c" <<'C'
#include <stdio.h>
int main(int count, char **words) {
  for (int i = 0; i < count; i++) puts(words[i]);
  return 7;
}
C
cross -static names.c -o names
cross -shared -fPIC deep.c -o libdeep.so.2 -Wl,-soname,libdeep.so.2
put amd-llvm_run_generic lib/llvm/bin/clang-23 <"$arm/names"
chmod +x "$artifacts/amd-llvm_run_generic/x/stage/lib/llvm/bin/clang-23"
ln -s clang-23 "$artifacts/amd-llvm_run_generic/x/stage/lib/llvm/bin/clang"
ln -s clang "$artifacts/amd-llvm_run_generic/x/stage/lib/llvm/bin/clang++"
put core-hip_lib_generic lib/libdeep.so.2 <"$arm/libdeep.so.2"
ln -s libdeep.so.2 "$artifacts/core-hip_lib_generic/x/stage/lib/libdeep.so"
put blas_lib_generic lib/data <<<"data"
put blas_lib_gfx942 lib/data.co <<<"code"
put rocprofiler-compute_run_generic libexec/rocprofiler-compute/rocprof-compute <<<"#!/bin/sh"
ROCM_SDK_WHEEL_PLATFORM_TAG=linux_aarch64 rock sdk build --artifact-dir "$artifacts" --dest-dir "$arm/sdk" \
  --runtime-alias lib/libdeep.so
rock sdk verify "$arm/sdk/dist"
"$host_python" - "$arm/sdk/dist"/rocm_sdk_core-*.whl "$arm/site" <<'PY'
import pathlib, sys, zipfile

with zipfile.ZipFile(sys.argv[1]) as wheel:
    wheel.extractall(sys.argv[2])
    for member in wheel.infolist():
        (pathlib.Path(sys.argv[2]) / member.filename).chmod(member.external_attr >> 16 & 0o777)
PY
bin=$arm/site/_rocm_sdk_core/lib/llvm/bin
# A program becomes another one through the kernel, which must know qemu for that; so what it would become is looked at.
became=$(qemu-aarch64 -strace "$bin/clang++" -v 2>&1 || true)
expect_match "what clang++ becomes" "execve\\(\"$bin/clang\"" "$became"
became=$(qemu-aarch64 -strace "$bin/clang" 2>&1 || true)
expect_match "what clang becomes" "execve\\(\"$bin/clang-23\"" "$became"
if [ -e /proc/sys/fs/binfmt_misc/qemu-aarch64 ]; then
  expect_equal "the exit code of the program" 7 "$(code_of qemu-aarch64 "$bin/clang++" -v)"
  expect_equal "its name and arguments" "$bin/clang++ -v" "$(paste -sd' ' "$work/out")"
fi

step "a library of the SDK under another name opens the library under qemu"
cat >"$arm/alias.c" <<'C'
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char **words) {
  void *alias = dlopen(words[1], RTLD_NOW), *library = dlopen(words[2], RTLD_NOW);
  int (*deep)(void) = alias ? (int (*)(void))dlsym(alias, "deep") : 0;
  if (!deep || !library) puts(dlerror());
  return deep && library && (void *)deep == dlsym(library, "deep") ? deep() : 1;
}
C
cross alias.c -o alias
lib=$arm/site/_rocm_sdk_core/lib
expect_equal "the answer through the other name" 40 \
  "$(code_of qemu-aarch64 -L /usr/aarch64-linux-gnu "$arm/alias" "$lib/libdeep.so" "$lib/libdeep.so.2")"
