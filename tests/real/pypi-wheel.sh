#!/usr/bin/env bash
# The program as a wheel, as release.yml gives it to PyPI: pip, uv and pipx install it into fresh environments, uvx runs
# it out of the file, and our own commands find nothing wrong with it. It is the debug build that is here already, so
# that the stage costs seconds; release.yml builds a static one, for both kinds of C library.
set -euo pipefail
# shellcheck source=tests/real/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
needs python3-venv
needs_pypi maturin==1.16.0 uv pipx==1.18.4
command -v cargo >/dev/null || skip "cargo is not installed"
version="rock-matrix $(sed -nE 's/^version = "(.*)"$/\1/p' Cargo.toml | head -n 1)"

step "build the wheel with maturin"
CARGO_TARGET_DIR=$target "$tools/bin/maturin" build --profile dev --out "$work/dist"
wheels=("$work"/dist/*.whl)
expect_equal "wheels made" 1 ${#wheels[@]}
wheel=${wheels[0]}
say "$(basename "$wheel"): $(stat -c %s "$wheel") bytes"
expect_match "its name" '/rock_matrix-[0-9.]+-py3-none-manylinux_2_[0-9]+_[a-z0-9_]+\.whl$' "$wheel"

step "judge it with our own commands"
rock wheel check "$wheel"
rock wheel verify "$wheel"
rock wheel show "$wheel"

step "install it with pip"
fresh_environment "$work/pip"
"$work/pip/bin/pip" install -q --disable-pip-version-check --no-index "$wheel"
expect_equal "what pip installed" "$version" "$("$work/pip/bin/rock-matrix" --version)"
"$work/pip/bin/rock-matrix" check matrices/flash-attn.yaml

step "install it with uv"
"$tools/bin/uv" venv -q --python "$host_python" "$work/uv"
"$tools/bin/uv" pip install -q --no-index --python "$work/uv/bin/python" "$wheel"
expect_equal "what uv installed" "$version" "$("$work/uv/bin/rock-matrix" --version)"

step "run it with uvx"
export UV_TOOL_DIR=$work/uv-tools UV_CACHE_DIR=$work/uv-cache
expect_equal "what uvx ran" "$version" "$("$tools/bin/uvx" -q --no-index --python "$host_python" --from "$wheel" rock-matrix --version)"

step "install it with pipx"
export PIPX_HOME=$work/pipx PIPX_BIN_DIR=$work/pipx/bin PIPX_DEFAULT_PYTHON=$host_python
"$tools/bin/pipx" install --quiet --pip-args=--no-index "$wheel"
expect_equal "what pipx installed" "$version" "$("$work/pipx/bin/rock-matrix" --version)"
