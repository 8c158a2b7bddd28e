//! Commands that messages print, run where they are printed, as someone does who copies them.
//!
//! Each must succeed, and answer or solve what the message is about. Those of builds and releases
//! are followed in the stories of these.

use crate::support::Project;

const EXTENSION: &str = "version: 1\ndistribution: own\nrecipe: hip-extension\naxes: {own: [\"1.0\"], python: [\"3.11\"], rocm: [\"6.2\"]}\ngfx: [gfx90a]\n";

fn extension(lines: &str) -> Project {
    Project::new().file("own wheels.yaml", &format!("{EXTENSION}{lines}"))
}

#[test]
fn init_is_followed_by_what_it_prints_next() {
    let project = Project::new();
    let stderr = project.run(&["check"]).exits(1).stderr;
    let stderr = project.follow(&stderr, "create one with").exits(0).stderr;
    assert!(project.has("matrices/flash-attn.yaml"), "{stderr}");
    assert_eq!(
        project
            .follow(&stderr, "flash-attn.yaml, then")
            .exits(0)
            .stderr,
        "1 file, 0 errors, 0 warnings\n"
    );
    let plan = project
        .follow(&stderr, "`rock-matrix check`,")
        .exits(0)
        .stdout;
    assert!(plan.contains("1 job"), "{plan}");
    let _ = project.follow(&stderr, "` and\n").exits(0);
    let _ = project.run(&["render", "workflow", "--check"]).exits(0);
}

#[test]
fn a_plan_without_jobs_has_help_to_see_the_reasons() {
    let project = extension("vars: {source: .}\nexclude: [{python: \"3.11\"}]\n");
    for command in [&["plan"][..], &["render", "workflow"], &["check"]] {
        let arguments: Vec<&str> = command.iter().copied().chain(["own wheels.yaml"]).collect();
        let outcome = project.run(&arguments).exits(0);
        let reasons = project
            .follow(&outcome.stderr, "see every reason with")
            .exits(0)
            .stdout;
        assert!(reasons.contains("excluded by"), "{reasons}");
    }
}

#[test]
fn a_value_after_compat_is_explained() {
    let project = Project::new();
    for (value, answer) in [
        ("gfx942", "gfx942 ("),
        ("mi300x", "gfx942 ("),
        ("gfx94X-dcgpu", "gfx942 ("),
        ("6.4", "ROCm 6.4\n"),
        ("2.9.1", "torch 2.9.1\n"),
        ("3.12", "Python 3.12\n"),
    ] {
        for (command, before) in [
            (&["compat", value][..], "did you mean"),
            (&["compat", "list", value], "help:"),
        ] {
            let stderr = project.run(command).exits(2).stderr;
            let found = project.follow(&stderr, before).exits(0).stdout;
            assert!(found.starts_with(answer), "{command:?}: {found}");
        }
    }
}

#[test]
fn a_value_without_jobs_is_explained_with_the_options_of_the_command() {
    let project = extension("vars: {source: .}\nexclude: [{python: \"3.12\"}]\n");
    let words = ["plan", "own wheels.yaml", "--axis", "python=3.11,3.12"];
    for more in [
        &["--runner", "16x64"][..],
        &["--json", "-o", "plan.json"],
        &["-q"],
    ] {
        let stderr = project.run(&[&words[..], more].concat()).exits(0).stderr;
        assert!(stderr.contains("P025 value-without-job"), "{stderr}");
        assert!(!stderr.contains("-q"), "{stderr}");
        let reasons = project.follow(&stderr, "see every reason with").exits(0);
        assert!(
            reasons.stdout.contains("python 3.12 ("),
            "{}",
            reasons.stdout
        );
    }
}

#[test]
fn a_build_without_jobs_has_a_reason() {
    let project = extension("vars: {source: .}\nexclude: [{python: \"3.11\"}]\n");
    for command in [
        &["build", "own wheels.yaml", "--all"][..],
        &["render", "docker", "own wheels.yaml"],
    ] {
        let stderr = project.run(command).exits(0).stderr;
        assert!(
            stderr.starts_with(
                "warning[P014 empty-plan]: every combination is excluded, so there are no jobs\n"
            ),
            "{stderr}"
        );
        assert!(
            project
                .follow(&stderr, "see every reason with")
                .exits(0)
                .stdout
                .contains("excluded by")
        );
    }
    let named = project
        .run(&["build", "own wheels.yaml", "own-1.0"])
        .exits(2)
        .stderr;
    assert!(
        named.contains("P014 empty-plan") && named.contains("no job is called `own-1.0`"),
        "{named}"
    );
    let sets = [
        "flash-attn=2.7.4.post1",
        "rocm=7.0",
        "torch=2.5.1",
        "python=3.11",
    ];
    let sets = sets.iter().flat_map(|value| ["--set", *value]);
    let alone: Vec<&str> = ["build", "--recipe", "flash-attn"]
        .into_iter()
        .chain(sets)
        .collect();
    let stderr = project.run(&alone).exits(1).stderr;
    assert!(
        stderr.contains("error[P014 empty-plan]")
            && stderr.contains("torch 2.5.1 has wheels for ROCm"),
        "{stderr}"
    );
}

#[test]
fn a_missing_variable_is_explained_by_its_recipe() {
    let project = extension("");
    let stderr = project.run(&["check", "own wheels.yaml"]).exits(1).stderr;
    let shown = project
        .follow(&stderr, "set `source` under `vars`;")
        .exits(0)
        .stdout;
    assert!(shown.contains("source"), "{shown}");
    let stderr = project.run(&["recipe", "show", "nope"]).exits(2).stderr;
    assert!(
        project
            .follow(&stderr, "help:")
            .exits(0)
            .stdout
            .contains("hip-extension")
    );
}

#[test]
fn a_job_for_windows_is_rendered_by_the_printed_command() {
    let project = extension("vars: {source: .}\nplatform: windows\nrunner: windows-2022\n");
    let job = "own-1.0-rocm6.2-py3.11-win";
    for arguments in [
        &["build", job, "--matrix", "own wheels.yaml"][..],
        &["build", "own wheels.yaml", job],
    ] {
        let stderr = project.run(arguments).exits(1).stderr;
        let script = project.follow(&stderr, "run the output of").exits(0).stdout;
        assert!(script.contains(job), "{script}");
    }
}

#[test]
fn a_job_that_is_not_known_is_one_of_those_listed() {
    let project = extension("vars: {source: .}\n");
    let stderr = project
        .run(&["build", "nope", "--matrix", "own wheels.yaml", "--dry-run"])
        .exits(2)
        .stderr;
    assert!(
        stderr.contains("help: name one of own-1.0-rocm6.2-py3.11\n"),
        "{stderr}"
    );
    let _ = project
        .run(&[
            "build",
            "own-1.0-rocm6.2-py3.11",
            "--matrix",
            "own wheels.yaml",
            "--dry-run",
        ])
        .exits(0);
    let stderr = project.run(&["build", "own wheels.yaml"]).exits(2).stderr;
    assert!(
        stderr.contains("name one of own-1.0-rocm6.2-py3.11, or select all with `--all`"),
        "{stderr}"
    );
}

#[test]
fn what_is_not_there_is_listed_by_the_printed_command() {
    let project = extension("vars: {source: .}\n");
    let listed = |arguments: &[&str], code: i32, known: &str| {
        let stderr = project.run(arguments).exits(code).stderr;
        let list = project.follow(&stderr, "help:").exits(0).stdout;
        assert!(list.contains(known), "{list}");
    };
    listed(&["compat", "list", "nope"], 2, "torch");
    listed(&["explain", "nope"], 2, "P014");
    listed(&["recipe", "show", "nope"], 2, "flash-attn");
}

#[test]
fn a_filter_of_plans_works_with_other_commands() {
    let project = extension("vars: {source: .}\n");
    let filter = ["own wheels.yaml", "--only", "python=3.11"];
    for command in [
        &["render"][..],
        &["render", "docker"],
        &["render", "recipe"],
        &["render", "script"],
    ] {
        let stderr = project.run(&[command, &filter].concat()).exits(2).stderr;
        project.follow(&stderr, "filter a plan:").exits(0);
    }
    assert!(project.has("scripts/own-1.0-rocm6.2-py3.11.sh"));
    let stderr = project
        .run(&[&["build", "--dry-run"], &filter[..]].concat())
        .exits(2)
        .stderr;
    assert!(
        stderr.contains("--json | rock-matrix build - --all --dry-run`"),
        "{stderr}"
    );
}

#[test]
fn init_in_another_directory_names_the_next_steps() {
    let project = Project::new();
    let stderr = project.run(&["init", "my wheels"]).exits(0).stderr;
    let folder = stderr
        .split("next: `cd ")
        .nth(1)
        .and_then(|rest| rest.split('`').next())
        .unwrap_or_default();
    assert_eq!(folder, "'my wheels'", "{stderr}");
    let check = format!("cd {folder} && rock-matrix check");
    let stderr = project
        .follow(&format!("run `{check}`"), "run")
        .exits(0)
        .stderr;
    assert_eq!(stderr, "1 file, 0 errors, 0 warnings\n");
}

#[test]
fn a_recipe_for_any_project_asks_for_the_name_of_one() {
    let project = Project::new();
    let build = [
        "build",
        "--recipe",
        "hip-extension",
        "--dry-run",
        "--set",
        "python=3.11",
        "--set",
        "rocm=6.2",
    ];
    let stderr = project.run(&build).exits(1).stderr;
    assert!(
        stderr.contains("help: add `--set distribution=NAME` and `--set version=VERSION`\n"),
        "{stderr}"
    );
    let more = [
        "--set",
        "distribution=own",
        "--set",
        "version=1.0",
        "--set",
        "source=.",
        "--set",
        "torch-from=host",
    ];
    let dry = project
        .run(&[&build[..], &more, &["--set", "python-from=host"]].concat())
        .exits(0)
        .stdout;
    assert!(dry.contains("== own-1.0-rocm6.2-py3.11"), "{dry}");
}
