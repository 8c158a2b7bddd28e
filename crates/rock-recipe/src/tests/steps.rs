//! Steps of recipes: paths, variables, outputs, and reported errors.

use super::{built, document, messages};
use crate::fixture::{flash_attn, jobs};
use crate::{BuildSite, check};
use rock_compat::Compat;
use rock_diagnostic::Sink;

#[test]
fn no_path_of_a_recipe_leaves_the_folder_of_the_job() {
    let make = |text: &str| built(&document(text)).map_err(|f| messages(&f));
    for (part, path) in [
        ("edits: [{remove: [/etc/passwd]}]", "/etc/passwd"),
        ("edits: [{file: src/../../x, find: y}]", "src/../../x"),
        ("collect: {wheels: ../*.whl}", "../*.whl"),
    ] {
        let faults = make(&format!(
            "{part}\nsteps: [{{stage: build, argv: [make]}}]\n"
        ))
        .unwrap_err();
        assert_eq!(
            faults,
            [format!("B012: `{path}` is not in the job's folder")]
        );
    }
    for part in ["clean: [..]", "cwd: /tmp", "outputs: {wheel: {glob: ../x}}"] {
        let faults = make(&format!(
            "steps: [{{stage: build, argv: [make], {part}}}]\n"
        ))
        .unwrap_err();
        assert!(faults[0].starts_with("B012: "), "{faults:?}");
    }
    assert!(make("steps: [{stage: build, argv: [make], clean: [dist/..x, .hidden]}]\n").is_ok());
}

#[test]
fn a_variable_is_extended_where_an_earlier_line_set_it() {
    let document = document(
        "env: {A: one, B: {prepend: /b}, C: null}\nsteps:\n  - {stage: x, argv: [a], env: {A: {append: two, sep: ' '}, B: {prepend: /c}, C: \
         {append: z}, D: {append: ''}}}\n",
    );
    let build = built(&document).unwrap();
    let step = build.steps.iter().find(|step| step.stage == "x").unwrap();
    assert_eq!(
        (step.env["A"].as_str(), step.env["C"].as_str()),
        ("one two", "z")
    );
    assert_eq!(step.env_extend["B"].apply(Some("/usr")), "/c:/b:/usr");
    assert!(!step.env_extend.contains_key("D") && step.env_remove.is_empty());
}

#[test]
fn what_a_step_made_is_installed_where_later_ones_need_it() {
    let document = document(
        "steps: [{stage: x, argv: [a], outputs: {triton: {glob: dist/t-*.whl, install: true}}}]\n",
    );
    let build = built(&document).unwrap();
    let install = build
        .steps
        .iter()
        .find(|step| step.stage == "install-triton")
        .unwrap();
    assert_eq!(install.argv[3..], ["dist/t-*.whl", "1"]);
}

#[test]
fn each_error_of_a_recipe_is_reported_once_with_its_job_count() {
    let jobs = jobs(
        "axes: {flash-attn: [\"2.8.3\"], python: [\"3.10\", \"3.11\"], torch: [\"2.5.1\"], rocm: [\"6.1\", \"6.2\"]}\ngfx: [gfx90a]\n",
    );
    let document = document(
        "edits: [{file: ../outside, find: x}]\nsteps:\n  - {stage: one, argv: [make, \"{{ verison }}\"]}\n  - {stage: two, when: \
         \"{{ python == '3.10' and nothing }}\", argv: [make]}\n",
    );
    let mut sink = Sink::new();
    check(
        jobs,
        &document,
        &Compat::embedded(),
        &|_, _| Vec::new(),
        &mut sink,
    );
    let found = sink.finish();
    let lines: Vec<String> = found
        .iter()
        .map(|d| {
            format!(
                "{} {} ({})",
                d.labels
                    .first()
                    .map(|l| l.location.to_string())
                    .unwrap_or_default(),
                d.message,
                d.notes.last().unwrap()
            )
        })
        .collect();
    assert_eq!(
        lines,
        [
            "recipes/flash-attn.yaml:5:32 cannot evaluate `{{ verison }}` (for 4 jobs, such as `flash-attn-2.8.3-rocm6.1-torch2.5.1-py3.10`)",
            "recipes/flash-attn.yaml:6:25 cannot evaluate `{{ python == '3.10' and nothing }}` (for 2 jobs, such as `flash-attn-2.8.3-rocm6.1-torch2.5.1-py3.10`)",
            " `../outside` is not in the job's folder (for 4 jobs, such as `flash-attn-2.8.3-rocm6.1-torch2.5.1-py3.10`)",
        ]
    );
}

#[test]
fn the_page_of_recipes_names_every_value() {
    let page = include_str!("../../../../docs/recipes.md");
    let job = flash_attn("2.8.3", "6.2", "2.5.1", "ck", "");
    let document = rock_plan::config::recipe::embedded("flash-attn").unwrap();
    let values =
        crate::job_values::values_of(&job, document, &Compat::embedded(), &BuildSite::Container);
    for name in values.keys().filter(|name| *name != "flash_attn") {
        assert!(page.contains(&format!("`{name}`")), "{name}");
    }
}
