#!/usr/bin/env bash
# What action.yml runs: finds the rock-matrix to use, puts it into PATH, and becomes the command that was asked for.
#
# Every input comes as a variable INPUT_NAME and is text that is compared, split or passed on, never code.
# Needs bash, curl or wget, and sha256sum or shasum. docs/action.md says what it does, in order.
# **Invariant:** what is downloaded, cached or in PATH runs only when its digest is not another than that of
# action/versions.json, which is a part of the commit that names the action. A wrong digest ends the run; nothing else is
# tried after it.
#
# Functions hand results on in variables instead of printing them: every `$(…)` is a process.
set -euo pipefail

# Before anything else: whatever is printed from here on, the runner hides the token in it.
token=${INPUT_TOKEN-}
unset INPUT_TOKEN
escape() {
  escaped=${1//'%'/%25}
  escaped=${escaped//$'\r'/%0D}
  escaped=${escaped//$'\n'/%0A}
}
if [ -n "$token" ] && [ "${GITHUB_ACTIONS-}" = true ]; then
  escape "$token"
  printf '::add-mask::%s\n' "$escaped"
fi

# EPOCHREALTIME has the decimal sign of the locale; bash 4 has no EPOCHREALTIME.
now_ms() {
  local micro=${EPOCHREALTIME-}
  micro=${micro/[.,]/}
  if [ -n "$micro" ]; then ms=$((micro / 1000)); else ms=$((SECONDS * 1000)); fi
}
now_ms
began=$ms

# `annotate error|warning MESSAGE`: where a person sees it. The runner takes the message out of stdout.
annotate() {
  if [ "${GITHUB_ACTIONS-}" = true ] && [ "${INPUT_ANNOTATIONS-true}" != false ]; then
    # The runner cuts at 4,096 characters.
    escape "${2:0:4000}"
    printf '::%s title=rock-action::%s\n' "$1" "$escaped"
  else
    printf '%s: %s\n' "$1" "$2" >&2
  fi
}
# `fail CODE MESSAGE`: codes are rock-matrix's own. 1: a file is not what it should be; 2: an input; 3: the machine.
fail() {
  annotate error "$2"
  exit "$1"
}

# This before all that older shells do not know: macOS has bash 3.2.
system=${RUNNER_OS:-$OSTYPE}
case $system in
  Linux | linux*) ;;
  *) fail 3 "rock-matrix runs on Linux only, and this runner is $system: set runs-on to a Linux runner, such as ubuntu-24.04" ;;
esac

# `quote TEXT`: sets `quoted` to one line that shows every character, and is not too long.
quote() {
  quoted=${1@Q}
  [ ${#quoted} -le 200 ] || quoted="${quoted:0:200}…"
}
# `one_of INPUT VALUE ALLOWED...`
one_of() {
  local input=$1 value=$2 allowed
  shift 2
  for allowed in "$@"; do
    [ "$value" != "$allowed" ] || return 0
  done
  quote "$value"
  printf -v allowed '%s, ' "$@"
  fail 2 "the input \`$input\` is $quoted, which is not one of: ${allowed%, }"
}
# `one_line INPUT VALUE`: paths go into files that have one a line.
one_line() {
  [[ $2 != *[$'\001'-$'\037\177']* ]] || { quote "$2" && fail 2 "the input \`$1\` is $quoted, which is not one line of text"; }
}

command=${INPUT_COMMAND-} config=${INPUT_CONFIG-} binary=${INPUT_BINARY-} version=${INPUT_VERSION-}
verify=${INPUT_VERIFY-checksum} fallback=${INPUT_FALLBACK-none} directory=${INPUT_WORKING_DIRECTORY:-.}
[ -z "$command" ] || one_of command "$command" check plan render build publish report
one_of verify "$verify" checksum attestation none
one_of fallback "$fallback" none cargo
one_of annotations "${INPUT_ANNOTATIONS-true}" true false
one_of summary "${INPUT_SUMMARY-true}" true false
one_line binary "$binary"
one_line working-directory "$directory"
# Its value is in no message.
[[ $token != *[$'\001'-$'\037\177']* ]] || fail 2 "the input \`token\` has line ends or other control characters: store the secret anew, without them"
number='(0|[1-9][0-9]{0,8})'
if [ -n "$version" ] && ! [[ $version =~ ^$number\.$number\.$number$ ]]; then
  quote "$version"
  fail 2 "the input \`version\` is $quoted, which is not an exact version such as \`1.2.3\`; leave it out for the action's own"
fi
[ "$verify $fallback" != "attestation cargo" ] ||
  fail 2 "\`verify: attestation\` and \`fallback: cargo\` exclude each other: what is built here has no attestation"
if [ -z "$command" ] && [ -n "$config${INPUT_ARGS-}" ]; then
  fail 2 "\`config\` and \`args\` are for a command, and the input \`command\` is empty: set it to \`check\`, \`plan\`, \`render\`, \`build\`, \`publish\` or \`report\`"
fi

# Words of `args`: blanks and line ends part them, outside of quotes. Between single quotes everything stands for
# itself; between double quotes a backslash takes `"` and `\` literally, and outside of quotes any character.
# Nothing is expanded: no variable, no command, no pattern.
split() {
  local rest=$1 word='' open=false run piece blank=$' \t\r\n'
  words=()
  while [ -n "$rest" ]; do
    run=''
    case $rest in
      [$blank]*)
        ! $open || words+=("$word")
        word='' open=false rest=${rest#?}
        continue
        ;;
      "'"*"'"*) run=${rest#?} run=${run%%"'"*} rest=${rest#"'$run'"} ;;
      "'"*) fail 2 "the input \`args\` has a \`'\` that is not closed" ;;
      '"'*)
        rest=${rest#?}
        while [[ $rest != '"'* ]]; do
          [ -n "$rest" ] || fail 2 "the input \`args\` has a \`\"\` that is not closed"
          piece=${rest%%[\"\\]*}
          [ -n "$piece" ] || { [[ $rest != \\[\"\\]* ]] || rest=${rest#?}; piece=${rest:0:1}; }
          run+=$piece rest=${rest#"$piece"}
        done
        rest=${rest#?}
        ;;
      \\) fail 2 "the input \`args\` ends with a \`\\\` that nothing follows" ;;
      \\*) run=${rest:1:1} rest=${rest:2} ;;
      *) run=${rest%%["$blank"\"\'\\]*} rest=${rest#"$run"} ;;
    esac
    word+=$run open=true
  done
  ! $open || words+=("$word")
}
split "${INPUT_ARGS-}"

# `has OPTION...`: whether `args` holds one of them, before a `--`; sets `option` to it.
has() {
  local word
  for option in "$@"; do
    for word in ${words[@]+"${words[@]}"}; do
      [ "$word" != -- ] || break
      [[ $word != "$option" && $word != "$option="* ]] || return 0
    done
  done
  return 1
}

# Matrix files, one a line; blank lines are none. None of them is an option.
files=()
while IFS= read -r line; do
  case $line in
    -*) files+=("./$line") ;;
    *[![:blank:]]*) files+=("$line") ;;
  esac
done <<<"${config//$'\r'/}"
case $command in
  check | plan | render | build | '') ;;
  *) [ ${#files[@]} = 0 ] || fail 2 "the input \`config\` is not for \`$command\`, which takes a plan: write \`--plan plan.json\` into \`args\`" ;;
esac
if [ "$command" = plan ] && has --format --out --github-output --most-matrices; then
  fail 2 "the input \`args\` has \`$option\`, which the action gives to \`plan\` itself: the plan is in the output \`plan-path\`, the matrix in \`matrix\`"
elif [ "$command" = plan ] && has --diff; then
  fail 2 "the input \`args\` has \`--diff\`, which gives no plan and no matrix: leave \`command\` out, and run \`rock-matrix plan --diff\` in a later step"
fi

unset CDPATH
started=$PWD
cd -- "${BASH_SOURCE[0]%/*}/.."
action=$PWD
cd -- "$started"
# `cd -` would go somewhere else.
case $directory in -*) directory=./$directory ;; esac
cd -- "$directory" 2>/dev/null || { quote "$directory" && fail 2 "the input \`working-directory\` is $quoted, and there is no such folder: check the repository out first"; }
temporary=${RUNNER_TEMP-}
[ -n "$temporary" ] || temporary=$(mktemp -d)

# The version of these sources.
while IFS= read -r line; do
  case $line in 'version = "'*) break ;; esac
done <"$action/Cargo.toml"
own=${line#*\"} own=${own%%\"*}
wanted=${version:-$own}

case ${RUNNER_ARCH:-$HOSTTYPE} in
  X64 | x86_64) platform=x86_64-linux ;;
  ARM64 | aarch64) platform=aarch64-linux ;;
  *) platform='' ;;
esac

# `digest_of FILE`: sets `digest` to its SHA-256.
digest_of() {
  if type -P sha256sum >/dev/null; then
    digest=$(sha256sum <"$1")
  elif type -P shasum >/dev/null; then
    digest=$(shasum -a 256 <"$1")
  else
    fail 3 "neither sha256sum nor shasum is in PATH, so no binary can be checked: install coreutils on the runner"
  fi
  digest=${digest%% *}
}
# `version_of FILE`: sets `found` to the version that a rock-matrix says it is, or to nothing.
version_of() {
  found=$("$1" --version 2>/dev/null) || found=''
  # One word: it becomes a line of the outputs.
  if [[ $found =~ ^rock-matrix\ ([0-9A-Za-z.+-]+)$ ]]; then found=${BASH_REMATCH[1]}; else found=''; fi
}

# Sets `releases`, and `asset` and `sha256` where the wanted version is listed for this machine.
look_up() {
  local LC_ALL=C line inside=''
  local base='^  "releases": "(https://[A-Za-z0-9./_:-]+)",$' opens='^    "([0-9.]+)": [{]$'
  local row='^      "([a-z0-9_]+-linux)": [{]"file": "([A-Za-z0-9][A-Za-z0-9._-]*)", "sha256": "([0-9a-f]{64})"[}],?$'
  releases='' asset='' sha256=''
  while IFS= read -r line; do
    if [[ $line =~ $row ]]; then
      [ "$inside $platform" != "$wanted ${BASH_REMATCH[1]}" ] || asset=${BASH_REMATCH[2]} sha256=${BASH_REMATCH[3]}
    elif [[ $line =~ $opens ]]; then
      inside=${BASH_REMATCH[1]}
    elif [[ $line =~ $base ]]; then
      releases=${BASH_REMATCH[1]}
    fi
  done <"$action/action/versions.json"
  [ -n "$releases" ] || fail 1 "action/versions.json names no address of releases: the action's files are damaged"
}

# `attest FILE`: asks GitHub who built it. The checksum has been compared before.
attest() {
  local said repository=${releases%/releases/download}
  [ "$verify" = attestation ] || return 0
  type -P gh >/dev/null || fail 3 "\`verify: attestation\` needs gh, which is not in PATH: install it (https://cli.github.com), or use \`verify: checksum\`"
  repository=${repository#https://*/}
  said=$(GH_TOKEN=$token gh attestation verify "$1" --repo "$repository" 2>&1) ||
    fail 1 "$1 has no attestation by $repository that holds, so it is not run; gh says: $said"
}

# `fetch ADDRESS FILE`: fails after setting `trouble`. An old curl does not know --retry-all-errors, and says so with 2.
fetch() {
  local curl=(curl --proto '=https' --tlsv1.2 --fail --location --silent --show-error --retry 5 --max-time 120 --output "$2") code=0 try
  if type -P curl >/dev/null; then
    trouble=$("${curl[@]}" --retry-all-errors -- "$1" 2>&1) && return 0 || code=$?
    [ "$code" = 2 ] || return 1
    trouble=$("${curl[@]}" -- "$1" 2>&1)
  elif [ -z "$sha256" ]; then
    trouble="a download that no checksum is known of needs curl, which is not in PATH"
    return 1
  elif type -P wget >/dev/null; then
    # These options are those of busybox too.
    for try in 1 2 3; do
      [ "$try" = 1 ] || sleep "$try"
      trouble=$(wget -q -T 60 -O "$2" -- "$1" 2>&1) && return 0
    done
    trouble=${trouble:-wget failed three times}
    return 1
  else
    trouble="neither curl nor wget is in PATH"
    return 1
  fi
}

# `download DIR...`: into the first of the folders that can be written to, under its name once it is judged and whole.
download() {
  local dir part='' address=$releases/v$wanted/$asset
  for dir in "$@"; do
    part=$(mkdir -p "$dir" 2>/dev/null && mktemp "$dir/.part.XXXXXX" 2>/dev/null) && break
  done
  [ -n "$part" ] || fail 3 "neither the tool cache nor RUNNER_TEMP can be written to, which are tried in this order: $*"
  # shellcheck disable=SC2064
  trap "rm -f ${part@Q}" EXIT
  if ! fetch "$address" "$part"; then
    trouble="$address cannot be downloaded: ${trouble:-no reason was given}"
    hint="Let the runner reach it (https_proxy is obeyed), give"
    rm -f "$part"
    return 1
  fi
  digest_of "$part"
  if [ -n "$sha256" ] && [ "$digest" != "$sha256" ]; then
    fail 1 "$address has the sha256 $digest, and action/versions.json says $sha256: it was cut off or altered, and is not run. Run the job again; if it stays so, report it"
  fi
  attest "$part"
  chmod 755 "$part" || fail 3 "$part cannot be made a program"
  if [ -z "$sha256" ]; then
    version_of "$part"
    [ "$found" = "$wanted" ] || fail 1 "$address says that it is version \`${found:-?}\`, not $wanted"
  fi
  mv -f "$part" "$dir/rock-matrix" || fail 3 "$dir/rock-matrix cannot be put in place: is it a folder?"
  trap - EXIT
  binary=$dir/rock-matrix
}

# The program that `build` makes.
built=$temporary/rock-matrix/build/release/rock-matrix
# Builds the sources that stand beside this script, as their Cargo.lock says.
build() {
  [ "$wanted" = "$own" ] || fail 3 "$trouble. \`fallback: cargo\` builds $own, the action's own version, not $wanted"
  type -P cargo >/dev/null || fail 3 "$trouble. \`fallback: cargo\` needs cargo, which is not in PATH: install Rust (https://rustup.rs) before this step"
  annotate warning "$trouble. rock-matrix is built with cargo instead, which takes minutes"
  printf '::group::cargo build\n'
  (unset CARGO_BUILD_TARGET && cd "$action" &&
    cargo build --release --locked --bin rock-matrix --target-dir "${built%/release/*}") ||
    fail 3 "cargo could not build rock-matrix $own; what it said is in the log above"
  printf '::endgroup::\n'
  binary=$built
  digest_of "$binary"
}

# The order: given, in PATH, in the cache, downloaded, built. Sets `binary`, `found`, `digest`, and `source` to where.
find_binary() {
  local cached places=() path=$binary
  # `hash` looks through PATH without a process.
  if [ -z "$path" ] && hash rock-matrix 2>/dev/null; then path=${BASH_CMDS[rock-matrix]}; fi
  if [ -n "$path" ]; then
    case $path in /*) ;; *) path=$PWD/$path ;; esac
    if [ -n "$binary" ]; then
      quote "$binary"
      if [ ! -f "$path" ] || [ ! -x "$path" ]; then fail 2 "the input \`binary\` is $quoted, which is not a program; relative paths start at \`working-directory\`"; fi
      version_of "$path"
      [ -n "$found" ] || fail 2 "the input \`binary\` is $quoted, which does not say which rock-matrix it is: is it one, and for ${RUNNER_ARCH:-$HOSTTYPE}?"
      [ -z "$version" ] || [ "$found" = "$version" ] || fail 2 "the input \`binary\` is version $found, and the input \`version\` is $version: leave one out"
      source="the input binary"
    else
      version_of "$path"
      source=PATH
    fi
    if [ -n "$binary" ] || [ "$found" = "$wanted" ]; then
      look_up
      digest_of "$path"
      if [ -z "$binary" ] && [ -n "$sha256" ] && [ "$digest" != "$sha256" ]; then
        # An earlier step of this job may have put a build of these sources into PATH. It is built again, not believed.
        if [ "$fallback$path" = "cargo$built" ]; then
          trouble="an earlier step built rock-matrix from the action's sources"
          build
          source=cargo
          return
        fi
        fail 1 "the rock-matrix in PATH, $path, says that it is version $found and has the sha256 $digest, and action/versions.json says $sha256: it is not the released program and is not run. Remove it from PATH, or name it in the input \`binary\` where it is meant"
      fi
      binary=$path
      attest "$binary"
      return
    fi
  fi
  found=$wanted
  local hint="Use a released tag of the action or a version that it lists, give"
  look_up
  # The tool cache keeps what has a checksum, so that it can be judged again.
  [ -z "$sha256" ] || [ -z "${RUNNER_TOOL_CACHE-}" ] || places=("$RUNNER_TOOL_CACHE/rock-matrix/$wanted/$platform")
  places+=("$temporary/rock-matrix/$wanted/$platform")
  source="a download"
  if [ -n "$sha256" ]; then
    for cached in "${places[@]/%//rock-matrix}"; do
      if [ ! -f "$cached" ] || [ ! -x "$cached" ]; then continue; fi
      digest_of "$cached"
      [ "$digest" = "$sha256" ] || fail 1 "the cached $cached has the sha256 $digest, and action/versions.json says $sha256: it was altered or is damaged, and is not run. Find out why, then remove the file"
      attest "$cached"
      binary=$cached source="the tool cache"
      return
    done
    download "${places[@]}" && return
  elif [ -z "$platform" ]; then
    trouble="there is no rock-matrix for ${RUNNER_ARCH:-$HOSTTYPE}, only for X64 and ARM64"
  elif [ "$verify" = none ]; then
    asset=rock-matrix-$platform
    download "${places[@]}" && return
  else
    trouble="action/versions.json of this action lists no rock-matrix $wanted for $platform"
  fi
  if [ "$fallback" = none ]; then
    fail 3 "$trouble. $hint a \`binary\`, or set \`fallback: cargo\` to build the action's own sources"
  fi
  build
  source=cargo
}
find_binary
now_ms
printf 'rock-matrix %s from %s, sha256 %s, %d ms\n' "$found" "$source" "${digest:0:12}" $((ms - began))

one_line binary "$binary"
in_path=${binary%/*}
if [ "$source" = "the input binary" ]; then
  # It may have another name.
  in_path=$temporary/rock-matrix/given
  mkdir -p "$in_path"
  ln -sfn "$binary" "$in_path/rock-matrix"
fi
[ -z "${GITHUB_PATH-}" ] || [ "$source" = PATH ] || printf '%s\n' "$in_path" >>"$GITHUB_PATH"
[ -z "${GITHUB_OUTPUT-}" ] || printf 'version=%s\nbinary=%s\n' "$found" "$binary" >>"$GITHUB_OUTPUT"
[ -n "$command" ] || exit 0

# What is added stands before the words of `args`, in which a `--` makes file names of all that follows.
argv=("$command")
case $command in
  plan)
    mkdir -p "$temporary/rock-matrix"
    plan=$(mktemp -d "$temporary/rock-matrix/plan.XXXXXX")/plan.json
    argv+=(--github-output --most-matrices 1 --format json --out "$plan")
    [ -z "${GITHUB_OUTPUT-}" ] || printf 'plan-path=%s\n' "$plan" >>"$GITHUB_OUTPUT"
    ;;
  build)
    [ -z "${ROCK_JOB-}" ] || has --job-env || argv+=(--job-env ROCK_JOB)
    argv+=(${files[@]+"${files[@]/#/--matrix=}"})
    files=()
    ;;
  publish)
    if ! has --to --subjects --prune; then
      [ -z "${GITHUB_REPOSITORY-}" ] || has --repo || argv+=(--repo "$GITHUB_REPOSITORY")
      [ "${GITHUB_REF_TYPE-}" != tag ] || has --tag || argv+=(--tag "$GITHUB_REF_NAME")
      argv+=(--github-output)
    fi
    ;;
esac
case $command in plan | publish | report) [ -z "$token" ] || export GITHUB_TOKEN=$token ;; esac
[ "${INPUT_SUMMARY-true}" = true ] || unset GITHUB_STEP_SUMMARY
[ "${INPUT_ANNOTATIONS-true}" = true ] || export ROCK_ANNOTATIONS=false
# In place of this shell, so that the runner's signals reach it.
exec "$binary" "${argv[@]}" ${words[@]+"${words[@]}"} ${files[@]+"${files[@]}"}
