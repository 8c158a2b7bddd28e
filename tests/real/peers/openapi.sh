#!/usr/bin/env bash
# GitHub's OpenAPI description fits every request that the program sends to GitHub, and every answer of the stand-in for
# GitHub: the real API would take the same requests, and the tests see answers of its shape.
set -euo pipefail
# shellcheck source=tests/real/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
needs curl python3-venv
# Without the validators jsonschema checks no formats, and an address or a time of any form passes.
needs_pypi jsonschema rfc3339-validator rfc3986-validator

# Only this file of the package is kept: all of them are 400 MB.
version=23.0.2
description=$cache/openapi-$version/api.github.com.json
if [ ! -s "$description" ]; then
  step "fetch GitHub's OpenAPI description from npm"
  command -v npm >/dev/null || skip "npm is not installed"
  mkdir -p "$work/npm" "${description%/*}"
  (cd "$work/npm" && npm pack --silent "@octokit/openapi@$version") >"$work/npm.log" 2>&1 ||
    skip "@octokit/openapi could not be fetched from npm: $(tail -n 1 "$work/npm.log")"
  tar -xzf "$work/npm/octokit-openapi-$version.tgz" -C "$work/npm" package/generated/api.github.com.json
  mv "$work/npm/package/generated/api.github.com.json" "$description"
fi

wheel() { "$host_python" tests/real/peers/openapi_setup.py wheel "$work/dist/$1" "$2"; }
# `as TOKEN COMMAND...` with the stand-in.
as() { GITHUB_TOKEN=$1 rock "${@:2}" --api-url "$github" --quiet; }
publish_to() { as "${token:-writer}" publish --repo "$1" --dist "$work/dist" --tag "${@:2}"; }
publish() { publish_to me/wheels "$@"; }
# `fails COMMAND...`: it must be refused, or fail.
fails() {
  local code
  code=$(code_of "$@")
  expect_match "the exit of \`$*\`" '^[13]$' "$code"
}
# `ask METHOD PATH [CURL ARGUMENT...]`: a request that the program does not send.
ask() { curl -sS -o "$work/asked" -A a-test -H "Authorization: Bearer ${token:-writer}" -X "$1" "${@:3}" "$github$2"; }
# Ends the stand-in, which then writes the exchanges.
finish() {
  kill "$github_pid"
  wait "$github_pid" || true
}

step "publish, replace, prune and read"
"$host_python" tests/real/peers/openapi_setup.py state "$work/state"
wheel 'demo-1.0+rocm6.2torch2.5-py3-none-any.whl' 'a = 1'
wheel 'demo-1.1+rocm6.2torch2.5-py3-none-any.whl' 'a = 2'
fake_github --state "$work/state" --record "$work/exchanges-1.jsonl" --quiet
publish v1 --draft
publish v1 --title 'Version 1' --make-latest true
publish v1
wheel 'demo-1.0+rocm6.2torch2.5-py3-none-any.whl' 'a = 3'
publish v1 --replace --allow-published
publish 'v2.0+rocm6.2' --prerelease --verify full
publish v3
publish nightly-1 --target main
publish nightly-2 --target main
fails publish nightly-3 --target nowhere
fails publish v9
as writer release prune --repo me/wheels --tag-glob 'nightly-*' --keep 0 --older-than 0d --apply --delete-tags
as writer report listing --published me/wheels --out "$work/listing.json"
rock index build --published me/wheels --api-url "$github" --out "$work/site"
as writer compat refresh --actions

step "publish where settings, rights and names are in the way"
publish_to me/locked v1
publish_to me/old-name v1
fails publish_to me/archived v1
fails publish_to me/ruled v1 --target main
fails publish_to me/nowhere v1
token=reader fails publish_to me/new-name v2 --target main
token=stranger fails publish_to me/private v1
token=nobody fails publish_to me/new-name v2 --target main
for repository in wheels locked archived old-name ruled nowhere; do
  for environment in release branches absent; do
    code_of as writer release preflight --repo "me/$repository" --tag v1 --environment "$environment" >/dev/null
  done
done

finish
step "send what the program does not send"
fake_github --state "$work/state" --record "$work/others.jsonl" --quiet
releases=/repos/me/wheels/releases
ask POST "$releases" --data '{"tag_name": 7}'
ask POST "$releases" --data 'text'
ask POST "$releases" --data '{}'
ask GET "$releases/tags/v1"
ask GET "$releases/tags/v77"
for path in /repos/me/private/releases/latest "$releases/77" "$releases/assets/77" /repos/me/wheels/git/tags/77; do ask GET "$path"; done
ask GET /repos/me/wheels/git/matching-refs/tags/v
ask GET /repos/me/wheels/git/ref/tags/v77
ask GET '/repos/actions/checkout/contents/action.yml?ref=v999.0.0'
ask GET '/repos/actions/checkout/contents/nothing?ref=v999.0.0'
ask GET '/repos/me/wheels/commits/v77'
for path in rulesets rulesets/77 immutable-releases commits/v77; do ask GET "/repos/me/nowhere/$path"; done
token=nobody ask GET "$releases/77"
token=stranger ask POST /repos/me/private/releases --data '{"tag_name": "v1"}'
ask GET /rate_limit
ask GET /rate_limit -H 'X-GitHub-Api-Version: 2000-01-01'
ask GET /rate_limit -H 'Accept: text/csv'
ask PATCH "$releases/77" --data '{"name": "x"}'
ask PATCH "$releases/assets/77" --data '{"name": "x"}'
for path in "$releases/77" "$releases/assets/77" /repos/me/wheels/git/refs/tags/v77; do ask DELETE "$path"; done
uploads=$("$host_python" -c 'import json, sys; print(json.load(open(sys.argv[1]))["upload_url"].split("{")[0])' <(ask GET "$releases/tags/v1" && cat "$work/asked"))
for _ in 1 2; do ask POST "${uploads#"$github"}?name=twice.txt&label=A%20label" -H 'Content-Type: text/plain' --data 'text'; done
finish

step "publish while the API fails, limits and forbids"
# Each strikes one request; the rest of the run goes well, or the next one does.
fake_github --repo me/wheels --tag v1 --tag v2 --tag v3 --record "$work/exchanges-2.jsonl" --quiet \
  --fault 'list-releases#1=502' --fault 'list-releases#2=limit:403:1' --fault 'create-release#1=retry-after:429:1' \
  --fault 'create-release#2=done:502' --fault 'upload#1=502' --fault 'upload#3=cut:10' --fault 'upload#5=wrong-name' \
  --fault 'upload#7=no-digest' --fault 'edit-release#1=tag-ruleset:422' --fault 'edit-release#2=tag-ruleset:403' \
  --fault 'edit-release#3=no-right' --fault 'edit-release#5=hidden' --fault 'tag-ref#4=bad-credentials'
for tag in v1 v2 v3; do
  for _ in 1 2 3; do code_of publish "$tag" >/dev/null; done
done
finish
# Answers that are not as the files that were sent. What proxies make of answers (`garbled`, `echo-token`, `elsewhere`,
# `next-elsewhere`) and how slowly they come is no matter of the description.
fake_github --repo me/wheels --tag v1 --tag v2 --tag v3 --record "$work/exchanges-3.jsonl" --quiet \
  --fault 'list-releases#1=500' --fault 'list-releases#2=503' --fault 'tag-ref#1=408' --fault 'commit#1=secondary:403' \
  --fault 'create-release#1=limit:429:1' --fault 'upload#1=wrong-digest' --fault 'upload#3=short' \
  --fault 'upload#5=later-digest' --fault 'upload#7=later-size' --fault 'upload#9=later-starter' \
  --fault 'upload#11=later-name' --fault 'upload#13=lost:10' --fault 'upload#15=mute:0' --fault 'upload#17=done:500'
for tag in v1 v2 v3; do
  for _ in 1 2 3; do code_of publish "$tag" >/dev/null; done
done
finish

step "compare the exchanges with the description"
"$tools/bin/python" tests/real/peers/openapi.py "$description" . --others "$work/others.jsonl" "$work"/exchanges-*.jsonl
