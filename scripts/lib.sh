# shellcheck shell=bash
# What quickstart, test, chroot-check and the real stages share: talking, and installing Debian packages.
# Sourced, never run. The caller has `set -euo pipefail`.

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${ROCK_CACHE_DIR:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/rock-matrix}
# What cargo is told, where it is told anything; else its own default.
target=${CARGO_TARGET_DIR:-$repo/target}
# Debian's own interpreter: another python3 may come first in PATH, and only this one has Debian's torch.
host_python=/usr/bin/python3

# The packages each kind of real build needs, all from Debian 12 itself.
hip_packages=(hipcc rocm-device-libs libamdhip64-dev)
torch_packages=(python3-torch python3-pip python3-wheel python3-setuptools python3-packaging python3-dev python3-venv)

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ] && [ "${TERM:-dumb}" != dumb ]; then
  bold=$'\e[1m' dim=$'\e[2m' red=$'\e[31m' green=$'\e[32m' yellow=$'\e[33m' plain=$'\e[0m'
else
  bold='' dim='' red='' green='' yellow='' plain=''
fi

say() { printf '%s\n' "$*"; }
note() { printf '      %s\n' "$*"; }
# `die CODE MESSAGE`: the exit codes are the tool's own (3: the machine is at fault).
die() {
  local code=$1
  shift
  printf '%serror%s: %s\n' "$red" "$plain" "$*" >&2
  exit "$code"
}

is_debian_12() { (. /etc/os-release 2>/dev/null && [ "${ID:-}" = debian ] && [ "${VERSION_ID:-}" = 12 ]); }
system_name() { (. /etc/os-release 2>/dev/null && printf '%s' "${PRETTY_NAME:-an unknown system}") || printf 'an unknown system'; }

# Whether `as_root` can work, without asking for a password in the middle of a run.
can_be_root() { [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null || { [ -t 0 ] && command -v sudo >/dev/null; }; }
as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# Those of the named packages that are not installed, one a line.
missing_packages() {
  local package
  for package in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || say "$package"
  done
}

apt() { as_root env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -o DPkg::Lock::Timeout=300 "$@"; }

# `install_packages LOG PACKAGE...`: says what it will install and how much that is, then installs it.
# Installs nothing where all is there. On failure prints one line that says why, and returns 1.
install_packages() {
  local log=$1 missing size
  shift
  if ! is_debian_12; then
    say "this is $(system_name): packages are installed on Debian 12 only"
    return 1
  fi
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -gt 0 ] || return 0
  if ! can_be_root; then
    say "not root, and no sudo; as root run: apt-get install --no-install-recommends ${missing[*]}"
    return 1
  fi
  mkdir -p "$(dirname "$log")"
  # Lists that were read within the hour will do; without them there is no size to tell.
  if [ -z "$(find /var/lib/apt/lists -maxdepth 1 -name '*_Packages*' -mmin -60 -print -quit 2>/dev/null)" ]; then
    apt update >>"$log" 2>&1 || say "      (apt-get update failed; going on with the package lists that are here)"
  fi
  size=$(apt install --no-install-recommends --assume-no "${missing[@]}" 2>/dev/null |
    sed -nE 's/^Need to get (.*) of archives\.$/\1 to download/p; s/^After this operation, (.*) of additional.*$/\1 on disk/p' |
    paste -sd, | sed 's/,/, /') || true
  note "will install with apt-get: ${missing[*]}${size:+ ($size)}"
  if ! apt install -y --no-install-recommends "${missing[@]}" >>"$log" 2>&1; then
    grep -E '^E: ' "$log" | tail -n 1 || say "apt-get failed; see $log"
    return 1
  fi
}

# Puts cargo in PATH where rustup has put it on the disk; says how to get it where it is nowhere.
need_cargo() {
  command -v cargo >/dev/null || PATH=$PATH:${CARGO_HOME:-${HOME:-/root}/.cargo}/bin
  command -v cargo >/dev/null && return
  say "Rust is not installed. This line installs it (https://rustup.rs), then run this again:"
  say ""
  say "    curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh"
  say ""
  exit 3
}

# The torch that the label of the quickstart's wheel names, and what pip downloads for it: 22 files.
torch_of_label=2.5.1
torch_download='3.0 GB'

# `torch_environment LOG`: an environment with PyPI's torch of the label, installed once and kept in the cache. Sets
# `torch_env`; where it cannot be made, says why in one line and returns 1.
torch_environment() {
  local log=$1 python
  python=$("$host_python" -c 'import sys; print("cp%d%d" % sys.version_info[:2])')
  torch_env=$cache/pypi-torch/torch-$torch_of_label-$python
  [ ! -f "$torch_env/complete" ] || return 0
  note "downloads PyPI's torch $torch_of_label, for CUDA: $torch_download in 22 files, once, 5.1 GB in $torch_env"
  rm -rf "$torch_env"
  mkdir -p "$(dirname "$torch_env")" "$(dirname "$log")"
  if "$host_python" -m venv "$torch_env" >>"$log" 2>&1 &&
    "$torch_env/bin/pip" install -q --disable-pip-version-check --no-cache-dir "torch==$torch_of_label" >>"$log" 2>&1; then
    touch "$torch_env/complete"
  else
    say "torch $torch_of_label could not be installed from PyPI: $(tail -n 1 "$log")"
    return 1
  fi
}

# `fresh_torch_environment DIR`: a new environment that has the torch of `torch_environment` and nothing else. Its files
# are links to those, so that it takes no time and no room.
fresh_torch_environment() {
  rm -rf "$1"
  cp -al "$torch_env" "$1"
  # The programs of an environment name its Python by path.
  rm -f "$1"/bin/pip* "$1"/bin/activate*
  printf '#!/bin/sh\nexec "%s/bin/python" -m pip "$@"\n' "$1" >"$1/bin/pip"
  chmod +x "$1/bin/pip"
}

# `7 s` or `2 min 05 s`.
duration() {
  if [ "$1" -lt 60 ]; then printf '%d s' "$1"; else printf '%d min %02d s' $(($1 / 60)) $(($1 % 60)); fi
}

# How this machine reaches Debian's packages: its sources, and what its apt is told of proxies and dates.
# Single quotes: these are apt's own variables.
# shellcheck disable=SC2016
debian_sources() { apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian'; }
apt_settings() { apt-config dump | grep -E '^Acquire::(http|https|ftp|Check|Retries)' || true; }
