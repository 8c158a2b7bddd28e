#!/usr/bin/env bash
# The Triton wheel of flash-attn 2.7.4.post1, from the released source distribution, by the recipe and the local engine.
set -euo pipefail
# shellcheck source=tests/real/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
needs "${torch_packages[@]}"

step "build $triton_wheel_name"
one_at_a_time built rock build "$triton_wheel_name" --matrix "$triton_matrix" --engine local --out "$work/dist"
wheel=$work/dist/$triton_wheel_name
[ -f "$wheel" ] || fail "no $triton_wheel_name among: $(ls -R "$work/dist")"

step "verify it with our command, and read it with pip"
rock wheel verify "$wheel"
fresh_environment --system-site-packages "$work/venv"
"$work/venv/bin/pip" install -q --no-deps --no-index "$wheel"
shown=$("$work/venv/bin/pip" show flash-attn)
expect_match "pip show" 'Version: 2\.7\.4\.post1\+rocm62torch2\.5triton' "$shown"

step "build.json says which torch was really there"
record=$(find "$work/dist" -name '*build.json' | head -n 1)
[ -n "$record" ] || fail "no build.json beside the wheel"
torch_version=$("$host_python" -c 'import torch; print(torch.__version__)')
grep -qF "$torch_version" "$record" || fail "build.json does not name torch $torch_version: $(cat "$record")"
