# shellcheck shell=bash disable=SC2034,SC2154
# What the stages that run rendered workflows with act share. They source it after lib.sh and `needs`.

repository=$work/repository
in_repository() { git -C "$repository" -c user.name=somebody -c user.email=somebody@example.com "$@"; }

# `start_front [PROGRAM]`: HTTPS before the stand-in for GitHub, whose address becomes `front`. act_front.py says what
# PROGRAM is.
tls=$repo/tests/fixtures/tls
start_front() {
  "$host_python" -u tests/real/act_front.py "$tls/server.pem" "$tls/server.key.pem" "$github" "$@" \
    >"$work/front" 2>"$work/front.log" &
  at_exit "kill $! 2>/dev/null"
  for _ in $(seq 200); do
    [ ! -s "$work/front" ] || break
    sleep 0.05
  done
  front=$(cat "$work/front")
  [ -n "$front" ] || fail "HTTPS did not start: $(cat "$work/front.log")"
}

# `start_github COMMIT TAG...`: the stand-in for GitHub behind HTTPS, and in `action` the action of this checkout, which
# downloads the binary under test from there.
start_github() {
  local commit=$1 tags=()
  shift
  for tag in "$@"; do tags+=(--tag "$tag"); done
  fake_github --repo me/wheels --commit "$commit" "${tags[@]}"
  start_front "$ROCK_MATRIX_BIN"

  # The action as the release job leaves it, but for where its releases are.
  mkdir -p "$action" "$work/bin" "$work/home" "$work/assets"
  cp -r action action.yml Cargo.toml "$action/"
  ln -s "$ROCK_MATRIX_BIN" "$work/assets/rock-matrix-x86_64-linux"
  "$action/action/add-version.sh" "$(rock --version | sed 's/.* //')" "$work/assets"
  sed -i "s#^  \"releases\": .*#  \"releases\": \"$front/org/rock-action/releases/download\",#" "$action/action/versions.json"
  # A step for GitHub's own machines frees disk with it; no such step may do that here.
  printf '#!/bin/sh\necho "sudo was called: $*" >&2\nexit 1\n' >"$work/bin/sudo"
  chmod +x "$work/bin/sudo"
}
action=$work/rock-action
# What a stage gives act besides.
act_options=()

# `run_workflow NAME EVENT FILE`: what GitHub does upon an event, whose text is read from the standard input. Sets `run`
# to the folder that the stand-ins write to, `code` to act's exit code and `results` to how each job ended.
run_workflow() {
  local used name mapped=() log=$work/$1.log
  run=$work/$1 code=0
  mkdir -p "$run/artifacts"
  ln -sfn "$repository" "$run/repository"
  cat >"$run/event.json"
  while read -r used; do
    case ${used%@*} in
      org/rock-action) mapped+=(--local-repository "$used=$action") ;;
      actions/* | pypa/*)
        name=${used%@*} name=${name#*/}
        [ -d "tests/real/act/$name" ] || fail "the workflow uses $used, which has no stand-in"
        mapped+=(--local-repository "$used=$repo/tests/real/act/$name")
        ;;
      *) fail "the workflow uses $used, which has no stand-in" ;;
    esac
  done < <(sed -nE 's/^ +(- )?uses: ([^ ]+).*/\2/p' "$repository/.github/workflows/$3" | sort -u)
  (
    cd "$repository"
    exec env -i PATH="$work/bin:/usr/bin:/bin" HOME="$work/home" LANG=C.UTF-8 timeout 900 "$tools/bin/act" "$2" --json \
      --workflows ".github/workflows/$3" --eventpath "$run/event.json" \
      --platform ubuntu-22.04=-self-hosted --platform ubuntu-24.04=-self-hosted --platform azure-linux-scale-rocm=-self-hosted \
      --platform linux-gfx942-1gpu-ccs-ossci-rocm=-self-hosted \
      --no-skip-checkout --no-cache-server --container-daemon-socket - --action-cache-path "$work/cache" \
      "${mapped[@]}" "${act_options[@]}" --secret GITHUB_TOKEN=writer --env STAND_IN="$run" \
      --env GITHUB_API_URL="$front" --env GITHUB_SERVER_URL="$front" \
      --env SSL_CERT_FILE="$tls/ca.pem" --env CURL_CA_BUNDLE="$tls/ca.pem"
  ) >"$log" 2>&1 || code=$?
  "$host_python" tests/real/act_log.py text "$log"
  results=$("$host_python" tests/real/act_log.py results "$log")
}
# `push TAG`: the tag of the newest commit is pushed.
push() {
  in_repository tag "$1"
  hear_of_tag "$1"
  run_tag "$1"
}
# `hear_of_tag TAG`: the stand-in for GitHub is told of a tag of the newest commit, as git would tell it.
hear_of_tag() {
  curl -fsS --noproxy '*' -X PUT "$github/_git/$1/$(in_repository rev-parse HEAD)" >"$work/pushed" || fail "the stand-in takes no tag"
}
# `run_tag TAG`: the run of the workflow for a tag that was pushed. The artifacts of an earlier attempt are still there.
run_tag() {
  run_workflow "$1" push wheels.yml <<<"{\"ref\": \"refs/tags/$1\", \"after\": \"$(in_repository rev-parse HEAD)\", \"deleted\": false}"
}
