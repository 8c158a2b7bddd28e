#!/usr/bin/env bash
# Scripts of Windows jobs: grammars of PowerShell and cmd read those of shipped recipes, and Wine's cmd runs one whose
# words and variables hold signs that cmd reads. Its python.exe hands on to the Python of this machine.
# PowerShell itself is in no registry that is at hand, so nothing here runs its scripts.
set -euo pipefail
# shellcheck source=tests/real/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
needs wine wine64 python3-venv jq
needs_pypi tree-sitter==0.26.1 tree-sitter-powershell==0.26.4 tree-sitter-batch==0.11.1 ziglang==0.13.0

step "scripts of shipped recipes parse"
cd "$work"
for recipe in torch triton torchvision hip-extension; do
  axes='python: ["3.12"], rocm: ["7.14.0"]' more='vars: {llvm-archive: "https://example.org/llvm-{hash}.tar.gz"}'
  case $recipe in
    torch) axes+=', torch-ref: [release/2.12]' more='' ;;
    hip-extension) axes+=', hip-extension: ["1.0"], torch: ["2.9.1"]' more='vars: {source: extension}' ;;
    torchvision) more='' ;;
  esac
  cat >"$recipe.yaml" <<YAML
version: 1
distribution: $recipe
recipe: $recipe
platform: windows
runner: windows-2022
axes: {$axes}
unknown: lenient
torch-from: host
python-from: host
gfx: [gfx1151]
$more
YAML
  rock render script --out "$recipe.ps1" "$recipe.yaml"
  rock render script --shell cmd --out "$recipe.cmd" "$recipe.yaml"
done
printf 'if (\r\n' >planted.ps1
printf 'if exist (\r\n' >planted.cmd
for planted in planted.ps1 planted.cmd; do
  [ "$(code_of "$tools/bin/python" "$repo/tests/real/windows/parse.py" "$planted")" != 0 ] || fail "$planted parses"
done
"$tools/bin/python" "$repo/tests/real/windows/parse.py" ./{torch,triton,torchvision,hip-extension}.{ps1,cmd}

step "cmd of Wine runs one"
mkdir -p "project folder (x86)/recipes" relay bin
ln -s "$host_python" bin/python
"$tools/bin/python" -m ziglang cc -target x86_64-windows-gnu -O1 -o bin/python.exe "$repo/tests/real/windows/python.c" -lshell32
cp "$repo/tests/real/windows/tiny.yaml" "project folder (x86)/recipes"
cd "project folder (x86)"
cat >m.yaml <<'YAML'
version: 1
distribution: tiny
recipe: tiny
platform: windows
runner: windows-2022
axes: {tiny: ["1.0"], python: ["3.12"], rocm: ["7.2"]}
gfx: [gfx1151]
unknown: lenient
torch-from: host
python-from: host
YAML
rock --recipes recipes render script --shell cmd --out build.cmd m.yaml
PATH=$work/bin:$PATH "$host_python" "$repo/tests/real/windows/relay.py" "$work/relay" "$work" "$work/python.log" &
relay=$!
at_exit "kill $relay 2>/dev/null"
at_exit "WINEPREFIX=$work/wine wineserver --kill 2>/dev/null"
export WINEPREFIX=$work/wine WINEDEBUG=-all ROCK_RELAY="Z:${work//\//\\}\\relay" ROCK_PYTHON="Z:${work//\//\\}\\bin\\python.exe"
export LIST=C:/old GONE=here
code=$(code_of wine cmd /c build.cmd)
cat "$work/python.log"
expect_equal "what cmd ends with" 9 "$code"
folder=(.rock/*)
[ ! -e "${folder[0]}/never" ] || fail "a stage ran after one that failed"
[ -e "${folder[0]}/last" ] || fail "what is to run at the end did not run after a failure"
said='C:/r (x86)&b'
# A sign that shells of Windows take for an apostrophe.
# shellcheck disable=SC1112
expected=$(jq -cn --arg said "$said" '[["a \"b\" c\\", "100% of %PATH% & x | y ^ z! <q>", "it'"'"'s", "ü ’", "C:\\x\\", "@at", $said,
  "in \($said) \"q\""], ["50% \($said); it'"'"'s & x", null, "\($said)/bin;C:/old", "-O2", "-I\($said)", null, "3"]]')
expect_equal "what a step is given" "$expected" "$(jq -c . "${folder[0]}/out/told.json")"
code=$(ROCK_FROM=never code_of wine cmd /c build.cmd)
expect_equal "what cmd ends with from the last stage" 0 "$code"
expect_match "what it says of those before" '== tell: done before' "$(cat "$work/out")"
code=$(ROCK_FROM=nowhere code_of wine cmd /c build.cmd)
expect_equal "what cmd ends with from no stage" 2 "$code"
sed -i '$a vars: {tree: "no such (x86) & b"}' m.yaml
rock --recipes recipes render script --shell cmd --out build.cmd m.yaml
: >"$work/python.log"
code=$(ROCK_FOLDER="Z:${work//\//\\}\\empty" code_of wine cmd /c build.cmd)
cat "$work/python.log"
expect_equal "what cmd ends with without what a step copies" 1 "$code"
expect_match "what is said of it" 'the source tree is to come from .*no such \(x86\) & b, which is not there' "$(cat "$work/python.log")"
[ -z "$(ls "$work/empty/done")" ] || fail "a stage ran without what it copies"
say "a script of cmd gives each word and variable as it is"
