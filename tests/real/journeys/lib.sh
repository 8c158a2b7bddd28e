# shellcheck shell=bash disable=SC2034
# Journeys: `tests/real/journeys/NAME.sh` is the stage `journey-NAME`. It begins in an empty folder with the built program
# and nothing else of this repository, and types what a person would type. All that is typed and printed is the transcript,
# which must be `NAME.txt` next to the stage. `ROCK_BLESS=1` writes that file instead of comparing with it.
#
# Journeys call the program through `types` alone.

# shellcheck source=tests/real/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

# `begin_journey PACKAGE...`: like `needs`; then enters the empty folder `$folder`, where `rock-matrix` is in PATH.
begin_journey() {
  needs "$@"
  snapshot=$repo/tests/real/journeys/${stage#journey-}.txt
  folder=$work/folder
  transcript=$work/transcript.txt
  mkdir -p "$folder" "$work/program"
  ln -s "$(realpath "$ROCK_MATRIX_BIN")" "$work/program/rock-matrix"
  export PATH=$work/program:$PATH NO_COLOR=1 LC_ALL=C.UTF-8
  # Output is for a person at a terminal, also where the stage itself runs in a workflow.
  unset CI GITHUB_ACTIONS GITHUB_TOKEN GH_TOKEN
  replacements=()
  replaces "$(regex_of "$folder")" FOLDER
  replaces "$(regex_of "$work")" WORK
  replaces "$(regex_of "$cache")" CACHE
  replaces "$(regex_of "$repo")" REPOSITORY
  replaces '127\.0\.0\.1:[0-9]+' LOOPBACK
  replaces '\b[0-9a-f]{64}\b' SHA256
  replaces '\b[0-9a-f]{40}\b' COMMIT
  # pip prints two of these lines to the standard output and the third to the error output, and an engine passes the two
  # on separately. So their order differs from run to run, and with it which of them are among the last lines of a log.
  drops 'Running setup\.py clean for '
  drops '^ *Failed to build '
  drops 'note: This error originates from a subprocess'
  # A step that runs for long reports its time and its last line of output; how often depends on the machine.
  drops '^\[[0-9]+\/[0-9]+\] [^:,]+, ([0-9]+ (h|min|s) ?)+(: |$)'
  replaces '\b([0-9]+ h )?([0-9]+ min )?[0-9]+(\.[0-9]+)? (s|ms)\b' TIME
  replaces "\\b$(regex_of "$(rock-matrix --version | sed 's/.* //')")\\b" VERSION
  : >"$transcript"
  cd "$folder" || exit 3
}

# `without_torch COMMAND...`: runs a function where `python3` is one without torch, since `pick` asks the first in PATH.
without_torch() {
  [ -d "$work/bare" ] || python3 -m venv --without-pip "$work/bare"
  PATH=$work/bare/bin:$PATH "$@"
}

# Escapes a text for use in a regular expression of sed.
regex_of() { printf '%s' "$1" | sed -E 's/[][\.*^$+?(){}|/]/\\&/g'; }

# `replaces EXTENDED-REGEX WORD`: what differs between runs or machines is the word in the transcript. Earlier ones are
# applied first.
replaces() { replacements+=("s/$1/$2/g"); }

# `drops EXTENDED-REGEX`: leaves lines out of the transcript whose order or number differs between runs.
drops() { replacements+=("/$1/d"); }

# Prints what differs between runs as the words of `replaces`.
replaced() {
  local expression arguments=()
  for expression in "${replacements[@]}"; do arguments+=(-e "$expression"); done
  sed -uE "${arguments[@]}"
}

# `remarks TEXT`: a line of the transcript that says what the person does or wants next.
remarks() {
  step "$*"
  printf '\n# %s\n' "$*" >>"$transcript"
}

# `types LINE`: runs a line in bash in the current folder; it must succeed. Keeps its output, as printed, in `$printed`.
types() { types_failing 0 "$1"; }

# `types_failing CODE LINE`: the line must end with this exit code.
types_failing() {
  local expected=$1 code=0
  printf '$ %s\n' "$2" | replaced | tee -a "$transcript"
  bash -c "$2" >"$work/printed" 2>&1 </dev/null || code=$?
  printed=$(<"$work/printed")
  replaced <"$work/printed" | tee -a "$transcript"
  [ "$code" = "$expected" ] || fail "\`$2\` ended with exit code $code, not $expected"
}

# `writes FILE`: the person writes a file, whose text is read from the standard input.
writes() {
  mkdir -p "$(dirname "$1")"
  tee "$1" | { printf '$ cat %s\n' "$1"; cat; } | tee -a "$transcript"
}

# Compares the transcript with the committed one.
end_journey() {
  if [ -n "${ROCK_BLESS:-}" ]; then
    cp "$transcript" "$snapshot"
    say "wrote $snapshot"
    return
  fi
  diff -u "$snapshot" "$transcript" || fail "the transcript differs from $snapshot; ROCK_BLESS=1 scripts/test --only $stage writes it"
}
