//! Builds whose program was killed, in every stage in turn, and builds whose input changed.

use std::os::unix::process::ExitStatusExt;

use crate::support::toy::{Toy, WHEEL};
use crate::support::{Family, sdk};

/// Stages that note their names; each kills the builder the first time, before or after its work.
fn fragile() -> Toy {
    let toy = Toy::building("true");
    let stage = |name: &str, more: &str| {
        let kill = |when: &str| {
            format!(
                "[ -e {name}-{when} ] || {{ touch {name}-{when}; kill -KILL $PPID; sleep 60; }}"
            )
        };
        let (before, after) = (kill("before"), kill("after"));
        format!(
            "  - stage: {name}\n    {more}\n    argv: [bash, -c, \"{before}; echo {name} >>order; {after}\"]\n"
        )
    };
    let stages = [
        stage("fetch", "env: {}"),
        stage("compile", "env: {FLAVOUR: \"{{ vars.flavour }}\"}"),
        stage("link", "env: {}"),
        "  - stage: pack\n    clean: [dist]\n    argv: [bash, -c, \"mkdir dist; cp \\\"$WHEELS\\\"/*.whl dist/; echo pack >>order\"]\n"
            .to_owned(),
    ];
    let recipe = format!(
        "recipe: 1\nname: toy\ndistribution: toy\nvars: {{python: python3, flavour: plain}}\nsteps:\n{}collect: {{wheels: \"dist/*.whl\"}}\n",
        stages.concat()
    );
    toy.write("recipes/toy.yaml", recipe.as_bytes());
    toy
}

/// Steps that end the builder, each before its work and after it: every run begins with the
/// stage that was cut.
#[test]
fn builds_continue_after_a_kill_or_a_changed_input() {
    let toy = fragile();
    for (stage, number) in [
        ("fetch", 1),
        ("fetch", 1),
        ("compile", 2),
        ("compile", 2),
        ("link", 3),
        ("link", 3),
    ] {
        let output = toy
            .start(&["--continue", "auto"])
            .wait_with_output()
            .unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.signal(), Some(9), "{stderr}");
        let last = stderr.lines().rfind(|line| line.starts_with('[')).unwrap();
        assert_eq!(last, format!("[{number}/5] {stage}"));
    }
    toy.build(0, &["--continue", "auto"]);
    let twice = [
        "fetch", "fetch", "compile", "compile", "link", "link", "pack",
    ];
    assert_eq!(toy.text("order").lines().collect::<Vec<_>>(), twice);
    assert!(toy.path("dist").join(WHEEL).exists());
    let matrix = std::fs::read_to_string(toy.path("matrices/toy.yaml")).unwrap();
    toy.write(
        "matrices/toy.yaml",
        matrix
            .replace("vars: {", "vars: {flavour: sweet, ")
            .as_bytes(),
    );
    let (_, stderr) = toy.build(0, &["--continue", "auto"]);
    assert!(stderr.starts_with("[2/5] compile\n"), "{stderr}");
    assert_eq!(
        toy.text("order")
            .lines()
            .skip(twice.len())
            .collect::<Vec<_>>(),
        ["compile", "link", "pack"]
    );
}

/// In whatever stage the builder is killed, the next run begins with that stage, and the
/// wheels are the same.
#[test]
fn a_build_that_is_killed_in_every_stage_leaves_the_same_wheels() {
    let family = Family::new();
    let wheelhouse = family.path("wheelhouse").display().to_string();
    let vars = |python: &str| {
        format!(
            "rocm-find-links: {wheelhouse}, python: {}",
            family.path(python).display()
        )
    };
    family.matrix("torch", &vars("venv/bin/python"), "");
    family.build(0, &[]);
    let undisturbed = family.wheels();
    assert_eq!(undisturbed.len(), 5);
    let stages = family.stages();
    for folder in ["dist", ".rock"] {
        std::fs::remove_dir_all(family.path(folder)).unwrap();
    }
    family.matrix("torch", &vars("python"), "");
    sdk::install(&family.path("sdk"));
    family.replace_pip();
    let mut killed = 0;
    loop {
        // Before the work is done and after it in turn.
        let when = if killed % 2 == 0 { "after" } else { "before" };
        let output = family
            .command(&["build", "--all", "--continue", "auto"])
            .env("WHEN", when)
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let begun = stderr
            .lines()
            .find_map(|line| line.strip_prefix('['))
            .unwrap_or_else(|| panic!("{stderr}"));
        let first = killed.max(1);
        assert!(
            begun.starts_with(&format!("{first}/{}] {}", stages.len(), stages[first - 1])),
            "{stderr}"
        );
        if output.status.signal().is_none() {
            family.ended(0, output);
            break;
        }
        assert_eq!(output.status.signal(), Some(9), "{stderr}");
        killed += 1;
    }
    let all = std::fs::read_to_string(family.path("killed")).unwrap();
    assert_eq!(all.lines().collect::<Vec<_>>(), stages);
    assert_eq!(family.stages(), stages);
    assert!(
        family.wheels() == undisturbed,
        "other wheels came of it: {:?}",
        family.wheels().keys()
    );
}
