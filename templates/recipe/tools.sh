# What builds and uploads call and images lack: git, ninja, patchelf, ccache, time, gh, curl.
set -euo pipefail
missing=()
for pair in git:git ninja:ninja-build patchelf:patchelf ccache:ccache time:time gh:gh curl:curl; do
  command -v "${pair%%:*}" >/dev/null 2>&1 || missing+=("${pair##*:}")
done
[ "${#missing[@]}" -gt 0 ] || exit 0
echo "installing ${missing[*]}"
if command -v apt-get >/dev/null 2>&1; then
  export DEBIAN_FRONTEND=noninteractive
  install=(apt-get install -y -qq --no-install-recommends)
  apt-get update -qq
elif command -v dnf >/dev/null 2>&1; then
  install=(dnf install -y -q)
else
  echo "without ${missing[*]}: the image has neither apt-get nor dnf"
  exit 0
fi
for package in "${missing[@]}"; do
  "${install[@]}" "$package" || echo "without $package: the archives of this image have none"
done
