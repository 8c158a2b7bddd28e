use rock_matrix::config::recipe::SHAPE;
use serde_json::{Value, json};

use super::{Case, Elsewhere, assert_effects, merge, observed};
use crate::support::Project;

const PLAN: &str = "plan m.yaml --recipes own";
const RENDER: &str = "render m.yaml --recipes own";
const RECIPE: &str = "render recipe m.yaml --recipes own --engine local";
const SCRIPT: &str = "render script m.yaml --recipes own --engine local --out out/";
const CHECK: &str = "check m.yaml --recipes own";
const DRY_RUN: &str = "build mine --matrix m.yaml --recipes own --dry-run";
const TEST: &str = "test --dist dist mine --matrix m.yaml --recipes own --dry-run";

/// Keys whose effect only a build that runs or a published wheel shows.
const ELSEWHERE: [Elsewhere; 8] = [
    Elsewhere {
        key: "recipe.run-time",
        file: "tests/it/publish_to_a_folder.rs",
        test: "gfx_targets_are_those_of_the_code_in_a_wheel",
    },
    Elsewhere {
        key: "recipe run-time needs.env",
        file: "tests/it/publish_to_a_folder.rs",
        test: "gfx_targets_are_those_of_the_code_in_a_wheel",
    },
    Elsewhere {
        key: "recipe run-time needs.requires",
        file: "tests/it/publish_to_a_folder.rs",
        test: "gfx_targets_are_those_of_the_code_in_a_wheel",
    },
    Elsewhere {
        key: "recipe collect.archive",
        file: "tests/it/build_install_trees.rs",
        test: "aotriton_is_configured_installed_packed_and_placed",
    },
    Elsewhere {
        key: "recipe.distribution",
        file: "tests/it/build_without_a_matrix_file.rs",
        test: "a_recipe_and_settings_build_a_wheel",
    },
    Elsewhere {
        key: "recipe fact.command",
        file: "tests/it/build_locally.rs",
        test: "facts_are_detected_on_this_machine_and_can_be_given",
    },
    Elsewhere {
        key: "recipe step.inputs",
        file: "tests/it/build_locally.rs",
        test: "a_step_runs_again_when_one_of_its_inputs_changed",
    },
    Elsewhere {
        key: "recipe collect.gates",
        file: "tests/it/build_locally.rs",
        test: "a_wheel_that_does_not_verify_is_refused_and_kept",
    },
];

/// A recipe of one step that builds one wheel. Changes of `matrix` are made in the matrix file.
fn base() -> Value {
    json!({
        "recipe": 1,
        "name": "mine",
        "vars": {"source": "tree"},
        "sources": {"tree": {"path": "tree"}},
        "steps": [{"stage": "build", "argv": ["make"]}],
        "collect": {"wheels": "dist/*.whl"},
    })
}

/// The step of [`base`] with more keys, before another one.
fn step(more: &Value) -> Value {
    let mut step = json!({"stage": "build", "argv": ["make"]});
    merge(&mut step, more);
    json!({"steps": [step, {"stage": "last", "argv": ["make", "last"]}]})
}

fn backends(more: &Value) -> Value {
    let mut backend = json!({});
    merge(&mut backend, more);
    json!({"backends": {"one": backend}})
}

fn fact(how: &Value) -> Value {
    let mut changes = step(&json!({"env": {"ANSWER": "{{ answer }}"}}));
    merge(&mut changes, &json!({"facts": {"answer": how}}));
    changes
}

fn source(how: &Value) -> Value {
    json!({"sources": {"tree": how}})
}

fn edit(how: &Value) -> Value {
    let mut edit = json!({"file": "src/tree/setup.py", "find": "a", "replace": "b"});
    merge(&mut edit, how);
    json!({"edits": [edit]})
}

fn variable(how: &Value) -> Value {
    step(&json!({"env": {"ANSWER": how}}))
}

fn place(how: &Value, row: &Value) -> Value {
    let mut all = json!({"from": "dist/*.so", "to": ["lib"]});
    merge(&mut all, row);
    let mut place = json!({"into": "venv", "rows": [all]});
    merge(&mut place, how);
    step(&json!({"argv": null, "place": place}))
}

fn output(how: &Value) -> Value {
    let mut output = json!({"glob": "dist/*.whl"});
    merge(&mut output, how);
    step(&json!({"outputs": {"wheel": output}}))
}

fn conditional(fact: &str, value: &str) -> Value {
    let last = json!({"stage": "last", "argv": ["make", "last"], "env": {"ANSWER": {"if": fact, "value": value}}});
    let row = json!({"command": ["rocm", "version"], "after": "build", "default": "7"});
    json!({"steps": [{"stage": "build", "argv": ["make"]}, last], "facts": {"answer": row, "other": row}})
}

fn merged(one: &Value, other: &Value) -> Value {
    let mut merged = one.clone();
    merge(&mut merged, other);
    merged
}

fn cases() -> Vec<Case> {
    let none = || json!({});
    let test = |how: &Value| {
        let mut test = json!({"cpu": "import mine"});
        merge(&mut test, how);
        json!({"test": test})
    };
    let git = json!({"path": null, "git": "https://example.org/tree.git", "ref": "v1"});
    let sdist = json!({"path": null, "sdist": "mine==1.0", "sha256": "0".repeat(64)});
    let project = json!({"path": null, "project": "aotriton"});
    let command = json!({"command": ["rocm", "version"], "default": "7"});
    let during = json!({"command": ["rocm", "version"], "after": "build", "default": "7"});
    let used_late = |fact: &Value| {
        let steps = json!([
            {"stage": "build", "argv": ["make"]},
            {"stage": "middle", "argv": ["make", "middle"]},
            {"stage": "last", "argv": ["make", "last"], "env": {"ANSWER": "{{ answer }}"}},
        ]);
        json!({"steps": steps, "facts": {"answer": fact}})
    };
    let row = json!({"table": "rocm", "column": "rocm"});
    vec![
        Case::failing("recipe.recipe", none(), json!({"recipe": 2}), CHECK),
        Case::failing("recipe.name", none(), json!({"name": "other"}), CHECK),
        Case::new(
            "recipe.package",
            step(&json!({"env": {"KNOWN": "{{ package.known }}"}})),
            json!({"package": "flash-attn"}),
            SCRIPT,
        ),
        Case::new(
            "recipe.version-from",
            json!({"matrix": {"axes": {"mine": null}}}),
            json!({"version-from": "build"}),
            PLAN,
        ),
        Case::new(
            "recipe.leaves",
            none(),
            json!({"leaves": "tree", "collect": null}),
            PLAN,
        ),
        Case::new(
            "recipe.builds-torch",
            json!({"matrix": {"axes": {"torch": ["2.5.1"]}, "torch-from": "pytorch-index"}}),
            json!({"builds-torch": true}),
            SCRIPT,
        ),
        Case::new(
            "recipe.axes",
            json!({"matrix": {"axes": {"flavour": ["a"]}}}),
            json!({"axes": ["flavour"]}),
            CHECK,
        ),
        Case::failing(
            "recipe.required-vars",
            none(),
            json!({"vars": {"needed": ""}, "required-vars": ["needed"]}),
            CHECK,
        ),
        Case::failing(
            "recipe.requires",
            none(),
            json!({"requires": ["torch"]}),
            CHECK,
        ),
        Case::new(
            "recipe.vars",
            none(),
            json!({"vars": {"source": "other"}, "sources": {"tree": {"path": "{{ vars.source }}"}}}),
            SCRIPT,
        ),
        Case::new("recipe.env", none(), json!({"env": {"A": "1"}}), SCRIPT),
        Case::new(
            "recipe.points",
            step(&none()),
            json!({"points": {"end": ["last"]}}),
            "build mine --matrix m.yaml --recipes own --dry-run --continue end",
        ),
        Case::new(
            "recipe wheel.distribution",
            none(),
            json!({"wheels": [{"distribution": "other"}]}),
            PLAN,
        ),
        Case::new(
            "recipe wheel.when",
            json!({"wheels": [{"distribution": "other"}]}),
            json!({"wheels": [{"distribution": "other", "when": "{{ false }}"}]}),
            PLAN,
        ),
        Case::new(
            "recipe wheel.each",
            json!({"wheels": [{"distribution": "other"}]}),
            json!({"wheels": [{"distribution": "other-{{ each }}", "each": "{{ gfx }}"}]}),
            PLAN,
        ),
        Case::new(
            "recipe wheel.same-version",
            json!({"wheels": [{"distribution": "other"}]}),
            json!({"wheels": [{"distribution": "other", "same-version": true}]}),
            PLAN,
        ),
        Case::new(
            "recipe wheel.tag",
            json!({"wheels": [{"distribution": "other"}]}),
            json!({"wheels": [{"distribution": "other", "tag": "py3-none-any"}]}),
            PLAN,
        ),
        Case::new(
            "recipe backend.label",
            backends(&none()),
            backends(&json!({"label": "special"})),
            PLAN,
        ),
        Case::new(
            "recipe backend.collapse",
            merged(
                &backends(&json!({"tag": "py3-none-any"})),
                &json!({"matrix": {"axes": {"python": ["3.11", "3.12"]}}}),
            ),
            backends(&json!({"tag": "py3-none-any", "collapse": ["python"]})),
            PLAN,
        ),
        Case::new(
            "recipe backend.collapsible",
            merged(
                &backends(&json!({"tag": "py3-none-any", "collapsible": ["python"]})),
                &json!({"matrix": {"axes": {"python": ["3.11", "3.12"]}}}),
            ),
            json!({"matrix": {"collapse": ["python"]}}),
            PLAN,
        ),
        Case::new(
            "recipe backend.tag",
            backends(&none()),
            backends(&json!({"tag": "py3-none-any"})),
            PLAN,
        ),
        Case::new(
            "recipe backend.device-code",
            backends(&none()),
            backends(&json!({"device-code": false})),
            PLAN,
        ),
        Case::new(
            "recipe backend.levers",
            merged(
                &backends(&none()),
                &json!({"package": "flash-attn", "backends": {"one": null, "ck": {}}, "matrix": {"axes": {"mine": ["2.8.3"]}}}),
            ),
            json!({"backends": {"ck": {"levers": ["fewer gfx targets"]}}}),
            PLAN,
        ),
        Case::new(
            "recipe fact.expr",
            fact(&json!({"expr": "{{ version }}"})),
            fact(&json!({"expr": "{{ rocm }}"})),
            SCRIPT,
        ),
        Case::new(
            "recipe fact.default",
            fact(&command),
            fact(&json!({"default": "8"})),
            DRY_RUN,
        ),
        Case::new(
            "recipe fact.after",
            used_late(&during),
            used_late(&json!({"after": "middle", "command": ["rocm", "version"], "default": "7"})),
            RECIPE,
        ),
        Case::new(
            "recipe fact.before",
            used_late(&during),
            used_late(
                &json!({"after": null, "before": "last", "command": ["rocm", "version"], "default": "7"}),
            ),
            RECIPE,
        ),
        Case::new(
            "recipe fact.file",
            fact(&json!({"file": "/nowhere", "default": "7"})),
            fact(&json!({"file": "m.yaml", "default": "7"})),
            DRY_RUN,
        ),
        Case::new(
            "recipe fact.find",
            fact(&json!({"file": "m.yaml"})),
            fact(&json!({"find": "distribution"})),
            DRY_RUN,
        ),
        Case::new(
            "recipe fact.path",
            fact(&json!({"path": ["/nowhere"], "default": "7"})),
            fact(&json!({"path": ["/etc/passwd"], "default": "7"})),
            DRY_RUN,
        ),
        Case::new(
            "recipe fact.env",
            fact(&json!({"env": "NOT_SET", "default": "7"})),
            fact(&json!({"env": "PATH", "default": "7"})),
            DRY_RUN,
        ),
        Case::new(
            "recipe fact.table",
            fact(&json!({"expr": "{{ 1 }}"})),
            fact(
                &json!({"expr": null, "table": "rocm", "column": "rocm", "where": {"rocm": "6.0"}}),
            ),
            SCRIPT,
        ),
        Case::new(
            "recipe fact.where",
            fact(&merged(&row, &json!({"where": {"rocm": "6.0"}}))),
            fact(&json!({"where": {"rocm": "5.2"}})),
            SCRIPT,
        ),
        Case::new(
            "recipe fact.at-most",
            fact(&merged(&row, &json!({"at-most": {"rocm": "6.0"}}))),
            fact(&json!({"at-most": {"rocm": "5.9"}})),
            SCRIPT,
        ),
        Case::new(
            "recipe fact.key",
            fact(&merged(&row, &json!({"where": {"rocm": "6.0"}}))),
            fact(&json!({"key": "rocm"})),
            SCRIPT,
        ),
        Case::new(
            "recipe fact.column",
            fact(&merged(&row, &json!({"where": {"rocm": "5.2"}}))),
            fact(&json!({"column": "hip"})),
            SCRIPT,
        ),
        Case::new(
            "recipe fact.stand-in",
            fact(&json!({"command": ["rocm", "version"]})),
            fact(&json!({"stand-in": "9"})),
            SCRIPT,
        ),
        Case::failing(
            "recipe refusal.when",
            json!({"refuse": [{"when": "{{ false }}", "reason": "no"}]}),
            json!({"refuse": [{"when": "{{ true }}", "reason": "no"}]}),
            CHECK,
        ),
        Case::failing(
            "recipe refusal.reason",
            json!({"refuse": [{"when": "{{ true }}", "reason": "no"}]}),
            json!({"refuse": [{"when": "{{ true }}", "reason": "not this"}]}),
            CHECK,
        ),
        Case::failing(
            "recipe refusal.help",
            json!({"refuse": [{"when": "{{ true }}", "reason": "no"}]}),
            json!({"refuse": [{"when": "{{ true }}", "reason": "no", "help": "take another"}]}),
            CHECK,
        ),
        Case::new(
            "recipe.warn",
            none(),
            json!({"warn": [{"when": "{{ true }}", "reason": "careful"}]}),
            CHECK,
        ),
        Case::new(
            "recipe source.when",
            none(),
            source(&json!({"when": "{{ false }}"})),
            SCRIPT,
        ),
        Case::new("recipe source.sdist", none(), source(&sdist), SCRIPT),
        Case::new("recipe source.git", none(), source(&git), SCRIPT),
        Case::new(
            "recipe source.path",
            none(),
            source(&json!({"path": "other"})),
            SCRIPT,
        ),
        Case::new("recipe source.project", none(), source(&project), SCRIPT),
        Case::new(
            "recipe source.checkout",
            source(&project),
            source(&json!({"checkout": ["--no-submodules"]})),
            SCRIPT,
        ),
        Case::new(
            "recipe source.artifact",
            none(),
            source(&json!({"path": null, "artifact": "tree.tar.gz"})),
            SCRIPT,
        ),
        Case::new(
            "recipe source.sha256",
            source(&sdist),
            source(&json!({"sha256": "1".repeat(64)})),
            SCRIPT,
        ),
        Case::new(
            "recipe source.ref",
            source(&git),
            source(&json!({"ref": "v2"})),
            SCRIPT,
        ),
        Case::new(
            "recipe source.submodules",
            source(&git),
            source(&json!({"submodules": true})),
            SCRIPT,
        ),
        Case::new(
            "recipe source.sparse",
            source(&git),
            source(&json!({"sparse": "projects/mine"})),
            SCRIPT,
        ),
        Case::new(
            "recipe source.env",
            source(&sdist),
            source(&json!({"env": {"A": "1"}})),
            SCRIPT,
        ),
        Case::new(
            "recipe edit.when",
            edit(&none()),
            edit(&json!({"when": "{{ false }}"})),
            SCRIPT,
        ),
        Case::new(
            "recipe edit.file",
            edit(&none()),
            edit(&json!({"file": "src/tree/other.py"})),
            SCRIPT,
        ),
        Case::new(
            "recipe edit.find",
            edit(&none()),
            edit(&json!({"find": "c"})),
            SCRIPT,
        ),
        Case::new(
            "recipe edit.replace",
            edit(&none()),
            edit(&json!({"replace": "c"})),
            SCRIPT,
        ),
        Case::new(
            "recipe edit.unless",
            edit(&none()),
            edit(&json!({"unless": "b"})),
            SCRIPT,
        ),
        Case::new(
            "recipe edit.only-with",
            edit(&none()),
            edit(&json!({"only-with": "b"})),
            SCRIPT,
        ),
        Case::new(
            "recipe edit.count",
            edit(&none()),
            edit(&json!({"count": 1})),
            SCRIPT,
        ),
        Case::new(
            "recipe edit.write",
            edit(&none()),
            edit(&json!({"find": null, "replace": null, "write": "c"})),
            SCRIPT,
        ),
        Case::new(
            "recipe edit.remove",
            edit(&none()),
            edit(
                &json!({"file": null, "find": null, "replace": null, "remove": ["src/tree/setup.py"]}),
            ),
            SCRIPT,
        ),
        Case::new(
            "recipe step.stage",
            none(),
            json!({"steps": [{"stage": "compile", "argv": ["make"]}]}),
            SCRIPT,
        ),
        Case::new(
            "recipe step.use",
            none(),
            json!({"steps": [{"use": "rocm-sdk"}, {"stage": "build", "argv": ["make"]}]}),
            SCRIPT,
        ),
        Case::new(
            "recipe step.when",
            step(&none()),
            step(&json!({"when": "{{ false }}"})),
            SCRIPT,
        ),
        Case::new(
            "recipe step.outdated",
            step(&none()),
            step(&json!({"outdated": ["build"]})),
            RECIPE,
        ),
        Case::new(
            "recipe step.argv",
            step(&none()),
            step(&json!({"argv": ["ninja"]})),
            SCRIPT,
        ),
        Case::new(
            "recipe step.rock-matrix",
            step(&none()),
            step(&json!({"argv": null, "rock-matrix": ["sdk", "version"]})),
            SCRIPT,
        ),
        Case::new(
            "recipe step.shell",
            step(&none()),
            step(&json!({"argv": null, "shell": "bash", "script": "make"})),
            SCRIPT,
        ),
        Case::new(
            "recipe step.script",
            step(&json!({"argv": null, "shell": "bash", "script": "make"})),
            step(&json!({"argv": null, "shell": "bash", "script": "ninja"})),
            SCRIPT,
        ),
        Case::new(
            "recipe step.env",
            step(&none()),
            step(&json!({"env": {"A": "1"}})),
            SCRIPT,
        ),
        Case::new(
            "recipe step.cwd",
            step(&none()),
            step(&json!({"cwd": "src/tree"})),
            SCRIPT,
        ),
        Case::new(
            "recipe step.timeout-min",
            step(&none()),
            step(&json!({"timeout-min": 7})),
            SCRIPT,
        ),
        Case::new(
            "recipe step.clean",
            step(&none()),
            step(&json!({"clean": ["dist"]})),
            SCRIPT,
        ),
        Case::new(
            "recipe step.retry",
            step(&none()),
            step(&json!({"retry": 2})),
            SCRIPT,
        ),
        Case::new(
            "recipe step.finally",
            step(&none()),
            step(&json!({"finally": true})),
            SCRIPT,
        ),
        Case::new(
            "recipe placing.into",
            place(&none(), &none()),
            place(&json!({"into": "other"}), &none()),
            SCRIPT,
        ),
        Case::new(
            "recipe placing.holds",
            place(&none(), &none()),
            place(&json!({"holds": "bin/python"}), &none()),
            SCRIPT,
        ),
        Case::new(
            "recipe placed files.when",
            place(&none(), &none()),
            place(&none(), &json!({"when": "{{ false }}"})),
            SCRIPT,
        ),
        Case::new(
            "recipe placed files.from",
            place(&none(), &none()),
            place(&none(), &json!({"from": "dist/*.a"})),
            SCRIPT,
        ),
        Case::new(
            "recipe placed files.to",
            place(&none(), &none()),
            place(&none(), &json!({"to": ["lib64"]})),
            SCRIPT,
        ),
        Case::new(
            "recipe placed files.one",
            place(&none(), &none()),
            place(&none(), &json!({"one": true})),
            SCRIPT,
        ),
        Case::new(
            "recipe placed files.link",
            place(&none(), &none()),
            place(&none(), &json!({"link": "lib.so"})),
            SCRIPT,
        ),
        Case::new(
            "recipe placed files.replaces",
            place(&none(), &none()),
            place(&none(), &json!({"replaces": "*.so"})),
            SCRIPT,
        ),
        Case::new(
            "recipe output.glob",
            output(&none()),
            output(&json!({"glob": "dist/*.tar"})),
            SCRIPT,
        ),
        Case::new(
            "recipe output.count",
            output(&none()),
            output(&json!({"count": 2})),
            SCRIPT,
        ),
        Case::new(
            "recipe output.install",
            output(&none()),
            output(&json!({"install": true})),
            SCRIPT,
        ),
        Case::new(
            "recipe collect.wheels",
            none(),
            json!({"collect": {"wheels": "out/*.whl"}}),
            SCRIPT,
        ),
        Case::new(
            "recipe collect.relabel",
            none(),
            json!({"collect": {"relabel": true}}),
            RECIPE,
        ),
        Case::new(
            "recipe collect.profile",
            none(),
            json!({"collect": {"profile": "sdk"}}),
            "render workflow m.yaml --recipes own --out out.yml",
        ),
        Case::new(
            "recipe collect.record",
            none(),
            json!({"collect": {"record": {"make": ["make", "--version"]}}}),
            SCRIPT,
        ),
        Case::new("recipe test.cpu", none(), test(&none()), SCRIPT),
        Case::new(
            "recipe test.gpu",
            test(&none()),
            test(&json!({"gpu": "import mine.gpu"})),
            SCRIPT,
        ),
        Case::new(
            "recipe test.pytest",
            test(&json!({"gpu": "def test(): pass"})),
            test(&json!({"pytest": ["-x"]})),
            SCRIPT,
        ),
        Case::new(
            "recipe test.env",
            test(&none()),
            test(&json!({"env": {"A": "1"}})),
            SCRIPT,
        ),
        Case::new(
            "recipe test.requires",
            test(&none()),
            test(&json!({"requires": ["einops"]})),
            TEST,
        ),
        Case::new(
            "recipe test.stages",
            merged(&step(&none()), &test(&none())),
            test(&json!({"stages": ["last"]})),
            TEST,
        ),
        Case::new(
            "recipe variable.prepend",
            variable(&json!({"append": "a"})),
            variable(&json!({"prepend": "b"})),
            SCRIPT,
        ),
        Case::new(
            "recipe variable.append",
            variable(&json!({"prepend": "a"})),
            variable(&json!({"append": "b"})),
            SCRIPT,
        ),
        Case::new(
            "recipe variable.sep",
            variable(&json!({"prepend": "a"})),
            variable(&json!({"prepend": "a", "sep": ";"})),
            SCRIPT,
        ),
        Case::new(
            "recipe variable.if",
            conditional("answer", "a"),
            conditional("other", "a"),
            RECIPE,
        ),
        Case::new(
            "recipe variable.value",
            conditional("answer", "a"),
            conditional("answer", "b"),
            RECIPE,
        ),
        Case::new(
            "recipe variable.count",
            variable(&json!({"gib-per-job": "2"})),
            variable(&json!({"gib-per-job": "2", "count": "3"})),
            SCRIPT,
        ),
        Case::new(
            "recipe variable.gib-per-job",
            variable(&json!({"gib-per-job": "2"})),
            variable(&json!({"gib-per-job": "4"})),
            SCRIPT,
        ),
    ]
}

#[test]
fn every_key_of_a_recipe_has_an_effect() {
    let observe = |changes: &[&Value], command| {
        let mut document = base();
        for changes in changes {
            merge(&mut document, changes);
        }
        let mut matrix = json!({
            "version": 1,
            "distribution": "mine",
            "recipe": "mine",
            "axes": {"mine": ["1.0"], "python": ["3.12"], "rocm": ["6.2"]},
            "gfx": ["gfx942"],
            "torch-from": "host",
            "python-from": "host",
        });
        if let Some(changes) = document.as_object_mut().unwrap().remove("matrix") {
            merge(&mut matrix, &changes);
        }
        let project = Project::new()
            .file("m.yaml", &matrix.to_string())
            .file("own/mine.yaml", &document.to_string());
        observed(&project.file("tree/setup.py", "a"), command)
    };
    assert_effects(&SHAPE, &cases(), &ELSEWHERE, |case| {
        (
            observe(&[&case.without], case.command),
            observe(&[&case.without, &case.with], case.command),
        )
    });
}
