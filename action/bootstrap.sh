#!/usr/bin/env bash
# Runs for action.yml: finds rock-matrix, adds it to PATH, and replaces itself with the requested command.
#
# Every input arrives in a variable INPUT_NAME. Inputs are text that is compared, split or passed on, never code.
# Needs bash, curl or wget, and sha256sum or shasum. docs/action.md describes the steps in order.
# **Invariant:** a program that is downloaded, cached or in PATH never runs if its digest differs from the one in
# action/versions.json, which is part of the commit of the action. A wrong digest ends the run, and no other source is
# tried.
#
# Functions return results in variables instead of printing them, because every `$(…)` starts a process.
set -euo pipefail

# Before anything else: from here on, the runner masks the token in all output.
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

# EPOCHREALTIME uses the decimal separator of the locale; bash 4 lacks it.
now_ms() {
  local micro=${EPOCHREALTIME-}
  micro=${micro/[.,]/}
  if [ -n "$micro" ]; then ms=$((micro / 1000)); else ms=$((SECONDS * 1000)); fi
}
now_ms
began=$ms

# `annotate error|warning MESSAGE`: reports a message as an annotation, which the runner reads from stdout.
annotate() {
  if [ "${GITHUB_ACTIONS-}" = true ] && [ "${INPUT_ANNOTATIONS-true}" != false ]; then
    # The runner cuts at 4,096 characters.
    escape "${2:0:4000}"
    printf '::%s title=rock-action::%s\n' "$1" "$escaped"
  else
    printf '%s: %s\n' "$1" "$2" >&2
  fi
}
# `fail CODE MESSAGE`: uses the exit codes of rock-matrix. 1: invalid file; 2: invalid input; 3: machine or network.
fail() {
  annotate error "$2"
  exit "$1"
}

# Before any syntax that older shells lack: macOS has bash 3.2.
system=${RUNNER_OS:-$OSTYPE}
case $system in
  Linux | linux*) ;;
  *) fail 3 "rock-matrix runs on Linux only, and this runner is $system: set runs-on to a Linux runner, such as ubuntu-24.04" ;;
esac

# `quote TEXT`: sets `quoted` to one line of limited length that shows every character.
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
# `one_line INPUT VALUE`: paths are written to files with one path per line.
one_line() {
  [[ $2 != *[$'\001'-$'\037\177']* ]] || { quote "$2" && fail 2 "the input \`$1\` is $quoted, which is not one line of text"; }
}

command=${INPUT_COMMAND-} config=${INPUT_CONFIG-} binary=${INPUT_BINARY-} version=${INPUT_VERSION-}
verify=${INPUT_VERIFY-checksum} fallback=${INPUT_FALLBACK-none} directory=${INPUT_WORKING_DIRECTORY:-.}
[ -z "$command" ] || one_of command "$command" check plan render build test publish release report
one_of verify "$verify" checksum attestation none
one_of fallback "$fallback" none cargo
one_of annotations "${INPUT_ANNOTATIONS-true}" true false
one_of summary "${INPUT_SUMMARY-true}" true false
one_line binary "$binary"
one_line working-directory "$directory"
# No message contains its value.
[[ $token != *[$'\001'-$'\037\177']* ]] || fail 2 "the input \`token\` contains line breaks or other control characters: store the secret again without them"
number='(0|[1-9][0-9]{0,8})'
if [ -n "$version" ] && ! [[ $version =~ ^$number\.$number\.$number$ ]]; then
  quote "$version"
  fail 2 "the input \`version\` is $quoted, which is not an exact version such as \`1.2.3\`; leave it out for the action's own"
fi
[ "$verify $fallback" != "attestation cargo" ] ||
  fail 2 "\`verify: attestation\` and \`fallback: cargo\` exclude each other: a program that is built here has no attestation"
if [ -z "$command" ] && [ -n "$config${INPUT_ARGS-}" ]; then
  fail 2 "\`config\` and \`args\` are for a command, and the input \`command\` is empty: set it to \`check\`, \`plan\`, \`render\`, \`build\`, \`test\`, \`publish\`, \`release\` or \`report\`"
fi

# Splits `args` into words at blanks and line breaks outside of quotes. Single quotes keep everything literally; in
# double quotes a backslash escapes `"` and `\`, and outside of quotes any character.
# Nothing is expanded: no variables, commands or patterns.
split() {
  local char word='' open=false state=plain blank=$' \t\r\n'
  words=()
  # Character by character: bash copies a long text whenever something is cut off its beginning.
  while IFS= read -r -d '' -n 1 char; do
    case $state in
      single) if [ "$char" = "'" ]; then state=plain; else word+=$char; fi ;;
      double)
        case $char in
          '"') state=plain ;;
          \\) state=double-escape ;;
          *) word+=$char ;;
        esac
        ;;
      double-escape)
        [[ $char == [\"\\] ]] || word+=\\
        word+=$char state=double
        ;;
      escape) word+=$char state=plain ;;
      *)
        case $char in
          [$blank])
            ! $open || words+=("$word")
            word='' open=false
            continue
            ;;
          "'") state=single ;;
          '"') state=double ;;
          \\) state=escape ;;
          *) word+=$char ;;
        esac
        open=true
        ;;
    esac
  done < <(printf %s "$1")
  case $state in
    single) fail 2 "the input \`args\` has an unclosed \`'\`" ;;
    double*) fail 2 "the input \`args\` has an unclosed \`\"\`" ;;
    escape) fail 2 "the input \`args\` ends with a \`\\\`" ;;
  esac
  ! $open || words+=("$word")
}
split "${INPUT_ARGS-}"

# `has OPTION...`: whether `args` contains one of them before a `--`; sets `option` to it. The value of a short option may
# follow without a blank.
has() {
  local word
  for option in "$@"; do
    for word in ${words[@]+"${words[@]}"}; do
      [ "$word" != -- ] || break
      [[ $word != "$option" && $word != "$option="* && ($option == --* || $word != "$option"*) ]] || return 0
    done
  done
  return 1
}

# Matrix files, one per line; blank lines are ignored. None of them is an option.
files=()
while IFS= read -r line; do
  case $line in
    -*) files+=("./$line") ;;
    *[![:blank:]]*) files+=("$line") ;;
  esac
done <<<"${config//$'\r'/}"
case $command in
  check | plan | render | build | test | '') ;;
  release) [ ${#files[@]} = 0 ] || fail 2 "the input \`config\` is not for \`release\`: leave it out" ;;
  *) [ ${#files[@]} = 0 ] || fail 2 "the input \`config\` is not for \`$command\`, which takes a plan: write \`--plan plan.json\` into \`args\`" ;;
esac
if [ "$command" = plan ] && has --format --json --out -o --github-output --max-shards --most-matrices; then
  fail 2 "the input \`args\` has \`$option\`, which the action gives to \`plan\` itself: the plan is in the output \`plan-path\`, the matrix in \`matrix\`"
elif [ "$command" = plan ] && has --diff; then
  fail 2 "the input \`args\` has \`--diff\`, which produces neither a plan nor a matrix: leave \`command\` out, and run \`rock-matrix plan --diff\` in a later step"
fi

unset CDPATH
started=$PWD
cd -- "${BASH_SOURCE[0]%/*}/.."
action=$PWD
cd -- "$started"
# `cd -` would change to another directory.
case $directory in -*) directory=./$directory ;; esac
cd -- "$directory" 2>/dev/null || { quote "$directory" && fail 2 "the input \`working-directory\` is $quoted, and there is no such folder: check the repository out first"; }
temporary=${RUNNER_TEMP-}
[ -n "$temporary" ] || temporary=$(mktemp -d)

# The version of these sources, from Cargo.toml.
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
    fail 3 "neither sha256sum nor shasum is in PATH, so binaries cannot be verified: install coreutils on the runner"
  fi
  digest=${digest%% *}
}
# `version_of FILE`: sets `found` to the version that the program prints, or to nothing.
version_of() {
  found=$("$1" --version 2>/dev/null) || found=''
  # One word: it becomes a line of the outputs.
  if [[ $found =~ ^rock-matrix\ ([0-9A-Za-z.+-]+)$ ]]; then found=${BASH_REMATCH[1]}; else found=''; fi
}

# Sets `releases`, and also `asset` and `sha256` if the wanted version is listed for this machine.
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
  [ -n "$releases" ] || fail 1 "action/versions.json contains no release URL: the action's files are damaged"
}

# `attest FILE`: verifies the attestation on GitHub, after the checksum.
attest() {
  local said repository=${releases%/releases/download}
  [ "$verify" = attestation ] || return 0
  type -P gh >/dev/null || fail 3 "\`verify: attestation\` needs gh, which is not in PATH: install it (https://cli.github.com), or use \`verify: checksum\`"
  repository=${repository#https://*/}
  said=$(GH_TOKEN=$token gh attestation verify "$1" --repo "$repository" 2>&1) ||
    fail 1 "$1 has no attestation by $repository that is valid, so it is not run; gh says: $said"
}

# `fetch URL FILE`: sets `trouble` on failure. Old versions of curl lack --retry-all-errors, and exit with 2.
fetch() {
  local curl=(curl --proto '=https' --tlsv1.2 --fail --location --silent --show-error --retry 5 --max-time 120 --output "$2") code=0 try
  if type -P curl >/dev/null; then
    trouble=$("${curl[@]}" --retry-all-errors -- "$1" 2>&1) && return 0 || code=$?
    [ "$code" = 2 ] || return 1
    trouble=$("${curl[@]}" -- "$1" 2>&1)
  elif [ -z "$sha256" ]; then
    trouble="a download without a known checksum needs curl, which is not in PATH"
    return 1
  elif type -P wget >/dev/null; then
    # busybox has these options too.
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

# `download DIR...`: downloads to the first writable directory, and renames the file once it is complete and verified.
download() {
  local dir part='' address=$releases/v$wanted/$asset
  for dir in "$@"; do
    part=$(mkdir -p "$dir" 2>/dev/null && mktemp "$dir/.part.XXXXXX" 2>/dev/null) && break
  done
  [ -n "$part" ] || fail 3 "neither the tool cache nor RUNNER_TEMP can be written to; tried: $*"
  # shellcheck disable=SC2064
  trap "rm -f ${part@Q}" EXIT
  if ! fetch "$address" "$part"; then
    trouble="$address cannot be downloaded: ${trouble:-unknown reason}"
    hint="Give the runner access to it (https_proxy is used), pass"
    rm -f "$part"
    return 1
  fi
  digest_of "$part"
  if [ -n "$sha256" ] && [ "$digest" != "$sha256" ]; then
    fail 1 "$address has the sha256 $digest, and action/versions.json says $sha256: it was cut off or altered, and is not run. Run the job again; if this persists, report it"
  fi
  attest "$part"
  chmod 755 "$part" || fail 3 "$part cannot be made executable"
  if [ -z "$sha256" ]; then
    version_of "$part"
    [ "$found" = "$wanted" ] || fail 1 "$address says that it is version \`${found:-?}\`, not $wanted"
  fi
  mv -f "$part" "$dir/rock-matrix" || fail 3 "$dir/rock-matrix cannot be created: is it a folder?"
  trap - EXIT
  binary=$dir/rock-matrix
}

# The program that `build` creates.
built=$temporary/rock-matrix/build/release/rock-matrix
# Builds the sources of this action with the versions of their Cargo.lock.
build() {
  [ "$wanted" = "$own" ] || fail 3 "$trouble. \`fallback: cargo\` builds $own, the action's own version, not $wanted"
  type -P cargo >/dev/null || fail 3 "$trouble. \`fallback: cargo\` needs cargo, which is not in PATH: install Rust (https://rustup.rs) before this step"
  annotate warning "$trouble. rock-matrix is built with cargo instead, which takes minutes"
  printf '::group::cargo build\n'
  (unset CARGO_BUILD_TARGET && cd "$action" &&
    cargo build --release --locked --bin rock-matrix --target-dir "${built%/release/*}") ||
    fail 3 "cargo could not build rock-matrix $own; see the log above"
  printf '::endgroup::\n'
  binary=$built
  digest_of "$binary"
}

# Tries in order: the input, PATH, the cache, a download, a build. Sets `binary`, `found`, `digest` and `source`.
find_binary() {
  local cached places=() path=$binary
  # `hash` searches PATH without starting a process.
  if [ -z "$path" ] && hash rock-matrix 2>/dev/null; then path=${BASH_CMDS[rock-matrix]}; fi
  if [ -n "$path" ]; then
    case $path in /*) ;; *) path=$PWD/$path ;; esac
    if [ -n "$binary" ]; then
      quote "$binary"
      if [ ! -f "$path" ] || [ ! -x "$path" ]; then fail 2 "the input \`binary\` is $quoted, which is not a program; relative paths start at \`working-directory\`"; fi
      version_of "$path"
      [ -n "$found" ] || fail 2 "the input \`binary\` is $quoted, which does not say which rock-matrix it is: is it rock-matrix, built for ${RUNNER_ARCH:-$HOSTTYPE}?"
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
        # An earlier step of this job may have added a build of these sources to PATH. Build again instead of trusting it.
        if [ "$fallback$path" = "cargo$built" ]; then
          trouble="an earlier step built rock-matrix from the action's sources"
          build
          source=cargo
          return
        fi
        fail 1 "the rock-matrix in PATH, $path, says that it is version $found and has the sha256 $digest, and action/versions.json says $sha256: it is not the released program and is not run. Remove it from PATH, or pass it as the input \`binary\` to use it anyway"
      fi
      binary=$path
      attest "$binary"
      return
    fi
  fi
  found=$wanted
  local hint="Use a released tag of the action or a version that it lists, pass"
  look_up
  # Only binaries with a checksum are cached, so that they can be verified again.
  [ -z "$sha256" ] || [ -z "${RUNNER_TOOL_CACHE-}" ] || places=("$RUNNER_TOOL_CACHE/rock-matrix/$wanted/$platform")
  places+=("$temporary/rock-matrix/$wanted/$platform")
  source="a download"
  if [ -n "$sha256" ]; then
    for cached in "${places[@]/%//rock-matrix}"; do
      if [ ! -f "$cached" ] || [ ! -x "$cached" ]; then continue; fi
      digest_of "$cached"
      [ "$digest" = "$sha256" ] || fail 1 "the cached $cached has the sha256 $digest, and action/versions.json says $sha256: it was altered or is damaged, and is not run. Find the cause, then remove the file"
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

# Options are added before the words of `args`, so that a `--` in `args` does not turn them into file names.
argv=("$command")
case $command in
  plan)
    mkdir -p "$temporary/rock-matrix"
    plan=$(mktemp -d "$temporary/rock-matrix/plan.XXXXXX")/plan.json
    argv+=(--github-output --max-shards 1 --format json --out "$plan")
    [ -z "${GITHUB_OUTPUT-}" ] || printf 'plan-path=%s\n' "$plan" >>"$GITHUB_OUTPUT"
    ;;
  build | test)
    [ -z "${ROCK_JOB-}" ] || has --job-env || argv+=(--job-env ROCK_JOB)
    argv+=(${files[@]+"${files[@]/#/--matrix=}"})
    files=()
    ;;
  publish)
    if ! has --out -o --to --subjects --prune; then
      [ -z "${GITHUB_REPOSITORY-}" ] || has --repo || argv+=(--repo "$GITHUB_REPOSITORY")
      [ "${GITHUB_REF_TYPE-}" != tag ] || has --tag || argv+=(--tag "$GITHUB_REF_NAME")
      argv+=(--github-output)
    fi
    ;;
esac
case $command in plan | publish | release | report) [ -z "$token" ] || export GITHUB_TOKEN=$token ;; esac
[ "${INPUT_SUMMARY-true}" = true ] || unset GITHUB_STEP_SUMMARY
[ "${INPUT_ANNOTATIONS-true}" = true ] || export ROCK_ANNOTATIONS=false
# Replaces this shell, so that the runner's signals reach the program.
exec "$binary" "${argv[@]}" ${words[@]+"${words[@]}"} ${files[@]+"${files[@]}"}
