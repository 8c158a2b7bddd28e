#!/usr/bin/env bash
# Writes a version into action/versions.json: `add-version.sh VERSION DIR`, run by the release job before it tags.
# DIR holds the binaries as the release will have them: rock-matrix-x86_64-linux, rock-matrix-aarch64-linux or both.
#
# The form is one binary a line, so that bootstrap.sh reads it without jq; tests/tidy/action.rs holds it to that.
# Adding what is there already changes nothing; other binaries under a version that is there are refused.
# VERSIONS_JSON is the file to change (default: the one beside this script).
set -euo pipefail

die() {
  printf 'error: %s\n' "$*" >&2
  exit 2
}

[ $# = 2 ] || die "usage: add-version.sh VERSION DIR"
version=$1 dir=$2
list=${VERSIONS_JSON:-$(dirname "${BASH_SOURCE[0]}")/versions.json}
[[ $version =~ ^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$ ]] || die "\`$version\` is not a version such as 1.2.3"
[ -d "$dir" ] || die "there is no folder \`$dir\`"

rows=()
for platform in aarch64-linux x86_64-linux; do
  file=rock-matrix-$platform
  [ -f "$dir/$file" ] || continue
  sha256=$(sha256sum <"$dir/$file")
  rows+=("      \"$platform\": {\"file\": \"$file\", \"sha256\": \"${sha256%% *}\"}")
done
[ ${#rows[@]} -gt 0 ] || die "$dir holds neither rock-matrix-x86_64-linux nor rock-matrix-aarch64-linux"
block="    \"$version\": {"$'\n'$(IFS=$'\n' && printf '%s' "${rows[*]/%/,}")
block=${block%,}$'\n    }'

text=$(cat "$list")
head=${text%%$'  "versions": {\n'*}$'  "versions": {\n'
others=${text#"$head"}
[ "$others" != "$text" ] || die "$list has no line \`  \"versions\": {\`"
if [[ $others == *"    \"$version\": {"* ]]; then
  [[ $text == *"$block"* ]] || die "$list has $version already, with other binaries: a version is released once"
  exit 0
fi
[[ $others == '  }'* ]] || block+=,
printf '%s%s\n%s\n' "$head" "$block" "$others" >"$list.part"
mv "$list.part" "$list"
