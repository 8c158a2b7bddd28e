#!/usr/bin/env bash
# P8: pip installs by name from the index of a release, in a folder and on GitHub; each folder of the index yields the
# wheel of its own ROCm and torch. The pages are what parsers of others read without a fault.
set -euo pipefail
# shellcheck source=tests/real/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
needs "${torch_packages[@]}"
needs_pypi html5lib pypi-simple

# `read_by_others ROOT URL [RELEASES]`
read_by_others() {
  step "html5lib, pypi-simple and packaging read the pages of ${1#"$work"/}"
  "$tools/bin/python" tests/real/index_pages.py "$@"
}

published_release
serve "$work/release"
for folder in "${!labels_by_folder[@]}"; do
  step "pip installs flash-attn from $folder"
  fresh_environment "$work/$folder"
  pip=$work/$folder/bin/pip
  "$pip" install -q --isolated --no-deps --no-cache-dir --index-url "$served/simple/$folder/" flash-attn
  found=$("$pip" show flash-attn | sed -n 's/^Version: //p')
  expect_equal "the version from $folder" "2.7.4.post1+${labels_by_folder[$folder]}" "$found"
done

read_by_others "$work/release/simple" "$served/simple"

# `from_index INDEX TARGET`
from_index() { "$pip" install -q --isolated --no-deps --no-cache-dir --index-url "$1" --target "$2" flash-attn; }
listed_site
read_by_others "$work/site" "$site"
install_from_each pip "a list" "$site"
live_site
read_by_others "$work/live" "$live"
install_from_each pip GitHub "$live"

step "pip resolves from METADATA and leaves the wheel"
serve "$work/release"
resolving=$served/simple/rocm6.2-torch2.5/
if "$pip" download -q --isolated --no-cache-dir --index-url "$resolving" -d "$work/none" flash-attn >"$work/out" 2>&1; then
  fail "an index without torch gave a wheel that needs torch"
fi
grep -q 'GET /flash_attn[^ ]*[.]whl[.]metadata' "$work/server.log" || fail "pip did not read METADATA: $(cat "$work/server.log")"
! grep -q 'GET /flash_attn[^ ]*[.]whl ' "$work/server.log" || fail "pip fetched the wheel: $(cat "$work/server.log")"

step "pip ignores a yanked wheel unless its version is pinned"
rock index yank "$work/release" 'flash-attn==2.7.4.post1: a test' --apply
if "$pip" download -q --isolated --no-deps --no-cache-dir --index-url "$resolving" -d "$work/none" flash-attn >"$work/out" 2>&1; then
  fail "pip took a yanked wheel"
fi
"$pip" download -q --isolated --no-deps --no-cache-dir --index-url "$resolving" -d "$work/pinned" \
  "flash-attn==2.7.4.post1+${labels_by_folder[rocm6.2-torch2.5]}"
rock index unyank "$work/release" flash-attn --apply

step "a full disk leaves the old index"
if unshare -rm true 2>/dev/null; then
  mkdir -p "$work/small"
  # The shell inside expands it.
  # shellcheck disable=SC2016
  ROCK=$ROCK_MATRIX_BIN SMALL=$work/small RELEASE=$work/release unshare -rm bash -c '
    set -eu
    mount -t tmpfs -o size=80k none "$SMALL"
    "$ROCK" index build --published "$RELEASE" --out "$SMALL/site" --no-metadata >/dev/null
    old=$(cd "$SMALL/site" && find . -type f -exec sha256sum {} + | sort)
    head -c 1M /dev/zero >"$SMALL/filler" 2>/dev/null || true
    code=0
    "$ROCK" index build --published "$RELEASE" --out "$SMALL/site" >"$SMALL.out" 2>&1 || code=$?
    [ "$code" = 3 ] || { echo "code $code"; cat "$SMALL.out"; exit 1; }
    grep -q "the index was not changed" "$SMALL.out"
    [ "$old" = "$(cd "$SMALL/site" && find . -type f -exec sha256sum {} + | sort)" ]
    [ "$(ls -A "$SMALL" | sort | paste -sd" ")" = "filler site" ]
  ' || fail "the old index was lost: $(cat "$work/small.out")"
else
  note "not shown on a real disk: this user may not mount one"
fi

step "pip checks the hash that the index gives"
broken=$work/broken
cp -r "$work/release" "$broken"
find "$broken" -name "$triton_wheel_name" -exec sh -c 'printf x >>"$1"' _ {} \;
serve "$broken"
if "$pip" download -q --isolated --no-deps --no-cache-dir --index-url "$served/simple/rocm6.2-torch2.5/" -d "$work" flash-attn \
  >"$work/out" 2>&1; then
  fail "pip took a wheel whose bytes are not those of the index"
fi
grep -q 'DO NOT MATCH THE HASHES' "$work/out" || fail "pip refused for another reason: $(cat "$work/out")"

step "an index of all that names and texts may have"
"$host_python" tests/real/index_wheels.py "$work/varied"
rock index build "$work/varied" --quiet
rock index yank "$work/varied" --quiet --apply 'rmx-plain==1.5' \
  "flash-attn==2.7.4.post1: <b>\"old\"</b> & 'worn' ünd: gone"
serve "$work/varied"
read_by_others "$work/varied/simple" "$served/simple"

step "an index of 3,000 wheels of a list"
"$host_python" tests/real/finder_data.py "$work/many" 3000
rock index build --published "$work/many/releases.json" --published "$work/many/rock-manifest.json" --out "$work/many/site" --quiet
serve "$work/many/site"
read_by_others "$work/many/site" "$served" "$work/many/releases.json"
