#!/usr/bin/env bash
# What `wheel repair` makes for another processor loads there, under qemu, and a function in it is called.
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
