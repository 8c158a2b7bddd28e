#!/usr/bin/env bash
# Every line that a page, release notes, `pick` or the wheel finder prints for a wheel is typed into a fresh environment,
# with pip and with uv, and the package is imported. Torch is PyPI's of the label's version, since no machine without a GPU
# needs another one for an import.
set -euo pipefail
# shellcheck source=tests/real/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
needs "${torch_packages[@]}"
needs_pypi uv
one_at_a_time pypi-torch torch_environment "$work/torch.log" || skip "there is no torch $torch_of_label: $(tail -n 1 "$work/torch.log")"

built "$triton_matrix" "$triton_wheel_name"
step "publish it, and serve the release"
rock publish --to "$work/release" --tag v1 "$wheel" >"$work/publish.txt"
serve "$work/release"
release=$served
rock report notes --tag v1 --published "$work/release" --index-url "$release/v1/simple" --out "$work/notes.md"
rock report page --published "$work/release/v1" --base-url "$release/v1" --out "$work/finder.html"
rock pick --published "$work/release/v1" --only-given --python 3.11 --rocm 6.2 \
  --torch 2.5.1+rocm6.2 >"$work/pick-installed.txt"
rock pick --published "$work/release/v1" --only-given --python 3.11 --rocm 6.2 >"$work/pick.txt"
"$host_python" tests/real/install_lines.py "$release/v1/simple/" "$work"/release/v1/simple/index.html "$work/notes.md" \
  "$work/publish.txt" "$work/pick-installed.txt" "$work/pick.txt" "$work/finder.html" >"$work/lines.txt"
sed 's/^/      /' "$work/lines.txt"
# By name from the served index and from the one in the folder, by file, and by address.
expect_equal "lines for an installed torch" 4 "$(grep -c '^pip install [^t]' "$work/lines.txt")"
expect_equal "lines from nothing" 4 "$(grep -c '^pip install torch==' "$work/lines.txt")"
mapfile -t settings < <(grep '^export ' "$work/lines.txt" | sed 's/^export //')
expect_equal "what is to be set" FLASH_ATTENTION_TRITON_AMD_ENABLE=TRUE "${settings[*]}"

official=https://download.pytorch.org/whl/rocm6.2
if curl -sfL -m 20 -o /dev/null "$official/torch/"; then
  step "$official can be reached, so torch for ROCm is installed from there"
else
  step "$official cannot be reached: an index on the loopback address serves PyPI's torch under the name of the official one"
  torch_wheel=$(dirname "$torch_env")/torch-$torch_of_label-cp311-cp311-manylinux1_x86_64.whl
  [ -f "$torch_wheel" ] || "$torch_env/bin/python" -m pip download -q --no-cache-dir --no-deps "torch==$torch_of_label" -d "$(dirname "$torch_wheel")" ||
    skip "the wheel of torch $torch_of_label could not be downloaded from PyPI"
  mkdir -p "$work/official/whl/rocm6.2/torch"
  rock wheel label "$torch_wheel" --local rocm6.2 -w "$work/official/whl/rocm6.2/torch" --quiet
  serve "$work/official"
  sed -i "s#$official#$served/whl/rocm6.2#" "$work/lines.txt"
fi

# `types_line TOOL ENVIRONMENT LINE`
types_line() {
  case $1 in
    pip) PATH=$2/bin:$PATH bash -c "$3 -q --disable-pip-version-check --no-cache-dir" ;;
    uv) PATH=$tools/bin:$PATH VIRTUAL_ENV=$2 UV_CACHE_DIR=$work/uv-cache bash -c "uv $3 -q --no-config" ;;
  esac
}
# `imports ENVIRONMENT`: with what the pages say is to be set; without it, it must fail. Both in copies of a process that has
# imported torch. Another one starts where the files of torch are others: environments have the same path, and most have
# links to the same files.
imports() {
  local files answer
  files=$(find "$1"/lib/python3*/site-packages -type f '(' -path '*/site-packages/torch/*' -o -path '*/site-packages/triton/*' ')' \
    ! -name '*.pyc' -printf '%i %p\n' | sort | sha256sum)
  if [ "$files" != "${imported:-}" ]; then
    [ -z "${imported:-}" ] || end_importer
    coproc importer { cd "$work" && "$1/bin/python" "$repo/tests/real/import_again.py" "${settings[@]}"; }
    imported=$files
  fi
  say "" >&"${importer[1]}"
  read -r answer <&"${importer[0]}" || answer='torch does not import'
  [[ $answer == 'imports with torch '* ]] || fail "the import of flash_attn: $answer; see above"
  note "$answer"
}
end_importer() {
  # `coproc` sets it.
  # shellcheck disable=SC2154
  local process=$importer_PID
  eval "exec ${importer[1]}>&-"
  wait "$process" || true
}

while read -r line; do
  for tool in pip uv; do
    step "$tool, with torch installed: $line"
    fresh_torch_environment "$work/venv"
    before=$("$work/venv/bin/python" -c 'import importlib.metadata as m; print(m.version("torch"), m.version("triton"))')
    types_line "$tool" "$work/venv" "$line"
    after=$("$work/venv/bin/python" -c 'import importlib.metadata as m; print(m.version("torch"), m.version("triton"))')
    expect_equal "torch and triton" "$before" "$after"
    imports "$work/venv"
  done
done < <(grep '^pip install [^t]' "$work/lines.txt")

# `without_torch DIR`: an environment without torch. It has what PyPI's torch needs of CUDA, 5 GB that torch for ROCm does
# not need.
without_torch() {
  fresh_torch_environment "$1"
  rm -rf "$1"/lib/python3*/site-packages/{torch,torchgen,functorch,triton,torch-*,triton-*} "$1"/bin/torch*
  if "$1/bin/python" -c 'import torch' 2>/dev/null; then fail "there is a torch in $1"; fi
}
# uv takes what it has unpacked once; pip reads all these lines alike. Modules are compiled once for each tool.
export PYTHONPYCACHEPREFIX=$work/pycache PIP_NO_COMPILE=1
tools_from_nothing=(pip uv)
while read -r line; do
  for tool in "${tools_from_nothing[@]}"; do
    step "$tool, without torch: $line"
    without_torch "$work/venv"
    types_line "$tool" "$work/venv" "$line"
    found=$("$work/venv/bin/python" -c 'import importlib.metadata; print(importlib.metadata.version("torch"))')
    expect_equal "the torch of the label" "$torch_of_label+rocm6.2" "$found"
    imports "$work/venv"
  done
  tools_from_nothing=(uv)
done < <(grep '^pip install torch==' "$work/lines.txt")
end_importer
rm -rf "$work/official" "$work/venv" "$work/uv-cache" "$work/pycache"
