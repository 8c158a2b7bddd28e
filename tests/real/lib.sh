# shellcheck shell=bash disable=SC2034
# What the real stages share. A stage is `tests/real/NAME.sh`: it sources this file, names the Debian packages it
# needs, and shows with real tools what `cargo test` cannot. It exits with 0 (shown), 77 (cannot run here: the last
# `SKIP:` line says why) or anything else (wrong). `NAME.sh --packages` lists the packages and does no more.

# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/lib.sh"
cd "$repo" || exit 3

stage=$(basename "$0" .sh)
# Stages that run the rules of peers, and journeys of users, are named after the folder, too.
case $0 in
  */peers/*) stage=peers-$stage ;;
  */journeys/*) stage=journey-$stage ;;
esac
stage_arguments=("$@")
# All real stages write below one folder; each empties its own.
real=$target/real
work=$real/$stage
tools=$cache/tools

# A step of the stage; `scripts/test` shows it as it begins.
step() { say "  - $*"; }
skip() {
  say "SKIP: $*"
  exit 77
}
fail() {
  say "FAIL: $*"
  exit 1
}
expect_equal() { [ "$2" = "$3" ] || fail "$1: expected \`$2\`, found \`$3\`"; }
# `expect_match WHAT EXTENDED-REGEX TEXT`
expect_match() { [[ $3 =~ $2 ]] || fail "$1: expected a match of \`$2\` in: $3"; }

# `needs PACKAGE...`: Debian packages, or the stage is skipped. Then an empty work folder and the binary under test.
needs() {
  local reason
  if [ "${stage_arguments[0]:-}" = --packages ]; then
    [ $# = 0 ] || printf '%s\n' "$@"
    exit 0
  fi
  if ! reason=$(install_packages "$real/$stage.packages.log" "$@"); then
    skip "$(missing_packages "$@" | paste -sd' ') could not be installed: $(tail -n 1 <<<"$reason")"
  fi
  rm -rf "$work"
  mkdir -p "$work"
  if [ -z "${ROCK_MATRIX_BIN:-}" ]; then
    need_cargo
    one_at_a_time binary build_binary
    ROCK_MATRIX_BIN=$real/bin/rock-matrix
  fi
  export ROCK_MATRIX_BIN
}
# Builds the programs. After the stage `tests` they are built with the tests, as they were there: the features of shared
# dependencies are the same then, and nothing is compiled again.
build() { cargo build -q --locked ${ROCK_TESTS_PASSED:+--bins --tests}; }
# maturin moves the program away from where cargo builds it, so stages that run meanwhile use a copy.
build_binary() {
  build
  [ "$target/debug/rock-matrix" -nt "$real/bin/rock-matrix" ] || return 0
  mkdir -p "$real/bin"
  cp "$target/debug/rock-matrix" "$real/bin/rock-matrix.new"
  # Lines for debuggers are most of its bytes, which stages send, hash and map again and again.
  strip --strip-debug "$real/bin/rock-matrix.new" 2>/dev/null || true
  mv "$real/bin/rock-matrix.new" "$real/bin/rock-matrix"
}

# `one_at_a_time NAME COMMAND...`: stages that run at the same time take turns with what they share.
one_at_a_time() {
  local turn
  mkdir -p "$cache/locks"
  exec {turn}>"$cache/locks/$1"
  flock "$turn"
  "${@:2}"
  exec {turn}>&-
}

# `installed_version PROJECT`: its version in the environment of `needs_pypi`, or nothing. pip takes ten times as long.
installed_version() {
  "$tools/bin/python" - "$1" <<'PY'
import importlib.metadata, sys

try:
    print(importlib.metadata.version(sys.argv[1]))
except importlib.metadata.PackageNotFoundError:
    pass
PY
}
# `needs_pypi PROJECT...`: into one virtual environment that is kept between runs, or the stage is skipped.
needs_pypi() { one_at_a_time pypi install_from_pypi "$@"; }
install_from_pypi() {
  local project found log=$real/$stage.pypi.log
  [ -x "$tools/bin/pip" ] || "$host_python" -m venv "$tools" >"$log" 2>&1 || skip "python3-venv makes no environment; see $log"
  for project in "$@"; do
    found=$(installed_version "${project%%==*}")
    # Without a version any will do.
    [ -z "$found" ] || [[ $project == *==* && $project != *=="$found" ]] || continue
    step "install $project from PyPI"
    "$tools/bin/pip" install -q --disable-pip-version-check "$project" >>"$log" 2>&1 ||
      skip "$project could not be installed from PyPI: $(grep -E '^ERROR' "$log" | tail -n 1)"
  done
}

# `fresh_environment [--system-site-packages] DIR`: a new virtual environment with pip, as `python3 -m venv` makes it. It is a
# copy of one that is kept between runs: unpacking pip takes four seconds of a processor.
fresh_environment() {
  local kept packages=false
  if [ "$1" = --system-site-packages ]; then
    packages=true
    shift
  fi
  kept=$cache/environments/$("$host_python" -c 'import sys, zlib
print("%s-%d.%d.%d-%08x" % (sys.implementation.name, *sys.version_info[:3], zlib.crc32(sys.prefix.encode())))')
  one_at_a_time environment make_environment "$kept"
  rm -rf "$1"
  cp -a "$kept" "$1"
  sed -i "s/^include-system-site-packages = .*/include-system-site-packages = $packages/" "$1/pyvenv.cfg"
  # Programs of an environment name its Python by path.
  sed -i "s#$kept#$1#g" "$1"/bin/{pip,activate,Activate}*
}
make_environment() {
  ! "$1/bin/python3" -c 'import pip' 2>/dev/null || return 0
  rm -rf "$1"
  mkdir -p "${1%/*}"
  # One that was interrupted does not have the name.
  "$host_python" -m venv --clear "$1.new" && sed -i "s#$1[.]new#$1#g" "$1.new"/bin/{pip,activate,Activate}* && mv "$1.new" "$1"
}

# `needs_npm PACKAGE@VERSION...`: into one folder that is kept between runs, or the stage is skipped. Sets `npm_modules`.
needs_npm() { one_at_a_time npm install_from_npm "$@"; }
install_from_npm() {
  local package log=$real/$stage.npm.log
  npm_modules=$cache/npm/node_modules
  mkdir -p "$cache/npm"
  for package in "$@"; do
    grep -qs "\"version\": \"${package##*@}\"" "$npm_modules/${package%@*}/package.json" && continue
    step "install $package from npm"
    npm install --silent --no-fund --no-audit --prefix "$cache/npm" "$package" >"$log" 2>&1 ||
      skip "$package could not be installed from npm: $(tail -n 1 "$log")"
  done
}

# The binary under test; what it says on stderr goes to the stage's log with the rest.
rock() { "$ROCK_MATRIX_BIN" "$@"; }

# Sends the exit code where `set -e` would end the stage: `code_of COMMAND...` prints it, output goes to $work/out.
code_of() {
  local code=0
  "$@" >"$work/out" 2>&1 || code=$?
  cat "$work/out" >&2
  printf '%s' "$code"
}

# One wheel's members with the digest of each, sorted: equal for equal content, whatever the archive's dates are.
member_digests() {
  "$host_python" - "$1" <<'PY'
import hashlib, sys, zipfile

with zipfile.ZipFile(sys.argv[1]) as wheel:
    for name in sorted(wheel.namelist()):
        print(hashlib.sha256(wheel.read(name)).hexdigest(), name)
PY
}

# `serve FOLDER [PORT]`: serves a folder on loopback until the stage ends, on a free port where none is given; sets `served`
# to its URL and `server_pid` to its process.
serve() {
  : >"$work/server.log"
  "$host_python" -u -m http.server --bind 127.0.0.1 --directory "$1" "${2:-0}" >>"$work/server.log" 2>&1 &
  server_pid=$!
  at_exit "kill $server_pid 2>/dev/null"
  served=''
  for _ in $(seq 100); do
    served=$(sed -nE 's#.*\((http://[^)]*)/\).*#\1#p' "$work/server.log")
    [ -z "$served" ] || return 0
    sleep 0.05
  done
  fail "the loopback server did not start: $(cat "$work/server.log")"
}

# `fake_github ARGUMENT...`: the stand-in for GitHub on a free loopback port until the stage ends; sets `github` to its
# URL and `github_pid` to its process. Its token is `writer`.
fake_github() {
  local program=$target/debug/fake-github
  if command -v cargo >/dev/null; then build; fi
  [ -x "$program" ] || fail "there is no $program"
  : >"$work/github.log"
  "$program" "$@" >>"$work/github.log" 2>&1 &
  github_pid=$!
  at_exit "kill $github_pid 2>/dev/null"
  github=''
  for _ in $(seq 200); do
    github=$(grep -oEm 1 'http://127\.0\.0\.1:[0-9]+' "$work/github.log") && return 0
    sleep 0.05
  done
  fail "the stand-in for GitHub did not start: $(cat "$work/github.log")"
}

# Commands to run when the stage ends, the last registered first.
at_exit_commands=()
at_exit() {
  at_exit_commands=("$1" "${at_exit_commands[@]}")
  trap run_at_exit EXIT
}
run_at_exit() {
  local code=$? command
  for command in "${at_exit_commands[@]}"; do eval "$command" || true; done
  exit "$code"
}

triton_wheel_name='flash_attn-2.7.4.post1+rocm62torch2.5triton-py3-none-any.whl'
triton_matrix=examples/quickstart/flash-attn.yaml
hip_wheel_name='rmx_vecadd-0.1.0+rocm52-cp311-cp311-linux_x86_64.whl'
hip_matrix=examples/quickstart/hip-extension.yaml

# `built_wheel FOLDER EXPECTED`: the path of the wheel that a build left in a folder, by the name that the plan expects: the
# build names the platform that the wheel complies with, and says so in its record.
built_wheel() {
  "$host_python" - "$@" <<'PY'
import json, pathlib, sys

folder, expected = pathlib.Path(sys.argv[1]), sys.argv[2]
records = (json.loads(path.read_text()) for path in folder.glob("*.build.json"))
names = [wheel["name"] for record in records if record["expected_wheel"] == expected for wheel in record["wheels"]]
print(folder / names[-1] if names else folder / expected)
PY
}

# `built MATRIX WHEEL`: sets `wheel` to the path of that wheel, built once a run of the stages and then reused.
# Stages that build these jobs themselves, in the same job folders, take turns with it.
built() { one_at_a_time built build_once "$@"; }
build_once() {
  local dist=$real/dist
  wheel=$(built_wheel "$dist" "$2")
  if [ ! -f "$wheel" ] || [ "$ROCK_MATRIX_BIN" -nt "$wheel" ]; then
    step "build $2"
    mkdir -p "$dist"
    rock build "$2" --matrix "$1" --engine local --out "$dist"
    wheel=$(built_wheel "$dist" "$2")
  fi
  [ -f "$wheel" ] || fail "the build made no $wheel; there is: $(ls "$dist")"
}

# One released version for four (ROCm, torch) pairs: the real wheel and three relabelled copies, published to
# `$work/release`. `labels_by_folder` says what each index folder holds.
declare -A labels_by_folder=(
  [rocm6.2-torch2.5]=rocm62torch2.5triton
  [rocm6.2-torch2.6]=rocm62torch2.6triton
  [rocm6.1-torch2.5]=rocm61torch2.5triton
  [rocm7.2-torch2.10]=rocm72torch2.10triton
)
published_release() {
  local label wheels=()
  built "$triton_matrix" "$triton_wheel_name"
  step "label it for four pairs of ROCm and torch, and publish the four"
  for label in "${labels_by_folder[@]}"; do
    if [ "$label" = rocm62torch2.5triton ]; then
      wheels+=("$wheel")
    else
      rock wheel label "$wheel" --local "$label" --replace -w "$work/labelled"
      wheels+=("$work/labelled/flash_attn-2.7.4.post1+$label-py3-none-any.whl")
    fi
  done
  rock publish --to "$work/release" "${wheels[@]}"
}

# What GitHub would list of `$work/release`, with the addresses of the server, and the index made of that list alone in
# `$work/site`; sets `site` to its URL.
listed_site() {
  step "make an index of the list of releases, without the wheels"
  "$host_python" - "$work" "$served" <<'PY'
import json, pathlib, sys

work, served = pathlib.Path(sys.argv[1]), sys.argv[2]
files = json.loads((work / "release/rock-manifest.json").read_text())["files"]
assets = [
    {"name": f["name"], "state": "uploaded", "size": f["size_bytes"], "digest": "sha256:" + f["sha256"],
     "browser_download_url": f"{served}/{f['name']}", "created_at": "2026-11-01T00:00:00Z"}
    for f in files
]
(work / "releases.json").write_text(json.dumps([{"id": 1, "tag_name": "v1", "assets": assets}]))
PY
  rock index build --published "$work/releases.json" --out "$work/site"
  serve "$work/site"
  site=$served
}

# `published_release`'s wheels in a release of the stand-in for GitHub, and in `$work/live` the index that is made by
# asking it; sets `live` to its URL. The index has the addresses GitHub gave.
live_site() {
  step "publish to the stand-in for GitHub, and make an index by asking it"
  fake_github --state "$work/github" --repo me/wheels --tag v1
  GITHUB_TOKEN=writer rock publish --dist "$work/release" --repo me/wheels --tag v1 --api-url "$github" --quiet
  rock index build --published me/wheels --api-url "$github" --out "$work/live"
  expect_equal "links to the stand-in" 4 "$(grep -rhoF "href=\"$github/me/wheels/releases/download/v1/" "$work/live" | wc -l)"
  serve "$work/live"
  live=$served
}

# `install_from_each TOOL WHAT INDEXES`: each folder of an index yields the wheel of its own ROCm and torch. The stage
# says with `from_index INDEX TARGET` how its tool installs flash-attn.
install_from_each() {
  local tool=$1 what=$2 indexes=$3 folder found
  for folder in "${!labels_by_folder[@]}"; do
    step "$tool installs flash-attn from the $folder of the index of $what"
    rm -rf "$work/from-index"
    from_index "$indexes/$folder/" "$work/from-index"
    found=$(cd "$work/from-index" && echo *.dist-info)
    expect_equal "what the $folder of $what gave" "flash_attn-2.7.4.post1+${labels_by_folder[$folder]}.dist-info" "$found"
  done
}
