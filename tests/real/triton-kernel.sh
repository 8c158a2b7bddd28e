#!/usr/bin/env bash
# A Triton kernel is compiled for gfx942 and gfx1100 on a machine without a GPU, by PyPI's triton and Debian's ld.lld, and
# our reader of code objects finds the target of each.
set -euo pipefail
# shellcheck source=tests/real/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
needs python3-venv lld-15
needs_pypi triton==3.5.1

step "compile the kernel for two targets"
cat >"$work/kernel.py" <<'PY'
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def scaled_sum(x, y, out, n, scale, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, scale * (tl.load(x + at, inside) + tl.load(y + at, inside)), inside)


signature = {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32", "scale": "fp32", "BLOCK": "constexpr"}
for target, lanes in (("gfx942", 64), ("gfx1100", 32)):
    source = ASTSource(fn=scaled_sum, signature=signature, constexprs={"BLOCK": 256})
    compiled = triton.compile(source, target=GPUTarget("hip", target, lanes))
    with open(f"{sys.argv[1]}/scaled_sum.{target}.hsaco", "wb") as file:
        file.write(compiled.asm["hsaco"])
PY
mkdir "$work/kernels"
TRITON_CACHE_DIR=$work/cache TRITON_HIP_LLD_PATH=$(command -v ld.lld-15) "$tools/bin/python" "$work/kernel.py" "$work/kernels"

step "read their targets"
for target in gfx942 gfx1100; do
  mkdir -p "$work/$target/kernels" "$work/$target/kernels-1.dist-info"
  cp "$work/kernels/scaled_sum.$target.hsaco" "$work/$target/kernels/"
  printf 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n' >"$work/$target/kernels-1.dist-info/WHEEL"
  printf 'Metadata-Version: 2.1\nName: kernels\nVersion: 1\n' >"$work/$target/kernels-1.dist-info/METADATA"
  : >"$work/$target/kernels-1.dist-info/RECORD"
  (cd "$work/$target" && "$host_python" -m zipfile -c kernels-1-py3-none-any.whl kernels kernels-1.dist-info)
  found=$(rock wheel gfx "$work/$target/kernels-1-py3-none-any.whl")
  expect_match "the target of $target" "$target" "$found"
done
