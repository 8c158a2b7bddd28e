//! Tables and recipes in `matrices/compat` and `matrices/recipes`, and files on standard input.

use std::io::Write as _;
use std::process::Stdio;

use crate::support::{Project, path_with_program};

const JOB: &str = "flash-attn-2.8.3-rocm6.2-torch2.5.1-py3.12-ck";
const TABLE: &str = "sources: {own: our measurements}
limits:
  - {name: jobs-per-matrix, what: jobs from a job matrix per workflow run, value: 7, unit: jobs, origin: {status: verified, source: own, checked: 2026-11-21}}
";

fn project() -> Project {
    Project::new().copy("matrices/flash-attn.yaml", "matrices/flash-attn.yaml")
}

/// Runs the binary with a text on standard input; returns stdout and stderr.
#[track_caller]
fn fed(project: &Project, arguments: &[&str], text: &str, code: i32) -> (String, String) {
    let mut child = project
        .command(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(text.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{stderr}");
    (String::from_utf8(output.stdout).unwrap(), stderr)
}

/// The rows of a table as `compat list` prints them as JSON.
fn rows(project: &Project, more: &[&str]) -> Vec<serde_json::Value> {
    let listed = project.run(&[&["compat", "list", "limits", "--json"], more].concat());
    serde_json::from_str(&listed.exits(0).stdout).unwrap()
}

#[test]
fn rows_replace_built_in_ones_unless_a_folder_is_named() {
    let built_in = rows(&project(), &[]);
    let project = project()
        .file("matrices/compat/own.yaml", TABLE)
        .copy("matrices/compat", "named");
    let own = rows(&project, &[]);
    assert_eq!(own.len(), built_in.len());
    let value = |rows: &[serde_json::Value]| {
        let row = rows.iter().find(|row| row["name"] == "jobs-per-matrix");
        row.unwrap()["value"].as_u64().unwrap()
    };
    assert_eq!((value(&own), value(&built_in)), (7, 256));
    assert_eq!(rows(&project, &["--compat", "named"]), built_in);
    let stderr = project.run(&["plan", "-v"]).exits(0).stderr;
    assert!(
        stderr.starts_with("using the tables of matrices/compat before the built-in ones\n"),
        "{stderr}"
    );
    let outcome = project.run(&["plan", "-v", "--compat", "named"]).exits(0);
    assert!(
        !outcome.stderr.contains("using the tables"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn recipes_next_to_matrices_are_used_and_checked() {
    let recipe = "recipe: 1\nname: mine\nversion-from: build\nsteps:\n  - {stage: build, argv: [make]}\ncollect: {wheels: \"dist/*.whl\"}\n";
    let project = project().file("matrices/recipes/mine.yaml", recipe);
    let listed = project.run(&["recipe", "list", "-v"]).exits(0);
    assert!(listed.stdout.contains("mine"), "{}", listed.stdout);
    assert!(
        listed
            .stderr
            .starts_with("using the recipes of matrices/recipes before the built-in ones\n"),
        "{}",
        listed.stderr
    );
    let project = project.file(
        "matrices/recipes/mine.yaml",
        &recipe.replace("argv", "arvg"),
    );
    let stderr = project.run(&["check"]).exits(1).stderr;
    insta::assert_snapshot!(stderr);
}

#[test]
fn a_rendered_workflow_watches_the_folders_and_has_the_tables_in_every_job() {
    let render = |project: &Project| {
        let words = ["render", "workflow", "matrices/flash-attn.yaml"];
        project.run(&words).exits(0).stdout
    };
    let (built_in, own) = (
        render(&project()),
        render(&project().file("matrices/compat/own.yaml", TABLE)),
    );
    assert!(!built_in.contains("matrices/compat"), "{built_in}");
    assert!(own.contains("      - 'matrices/compat/**'\n"), "{own}");
    let checkouts = |text: &str| text.matches("actions/checkout@").count();
    assert_eq!(checkouts(&own), checkouts(&built_in) + 2);
}

#[test]
fn a_hyphen_reads_matrices_and_plans_from_standard_input() {
    let project = project();
    let matrix = project.read("matrices/flash-attn.yaml");
    let ids = project.run(&["plan", "--format", "ids"]).exits(0).stdout;
    assert!(ids.lines().any(|id| id == JOB), "{ids}");
    let planned = ["plan", "-", "--format", "ids"];
    assert_eq!(fed(&project, &planned, &matrix, 0).0, ids);
    let (_, stderr) = fed(&project, &["check", "-"], "version: 2\n", 1);
    insta::assert_snapshot!(stderr);
    let (plan, _) = fed(&project, &["plan", "-", "--json"], &matrix, 0);
    for (document, job) in [(&matrix, JOB), (&plan, JOB)] {
        let (script, _) = fed(&project, &["render", "script", "-", job], document, 0);
        assert!(script.contains("flash"), "{script}");
    }
    let (changes, _) = fed(&project, &["plan", "--diff", "-", "--json"], &plan, 0);
    assert_eq!(
        changes.trim(),
        r#"{"version":1,"jobs":[],"newly_excluded":[],"no_longer_excluded":[],"removed_exclusions":[]}"#
    );
    let (_, stderr) = fed(&project, &["render", "workflow", "-"], &matrix, 1);
    insta::assert_snapshot!(stderr);
}

/// Bash lists the jobs of the directory in which it completes.
#[test]
fn job_ids_are_completed() {
    let project = project();
    let script = project.run(&["completions", "bash"]).exits(0).stdout;
    let project = project.file("completion.bash", &script);
    for command in ["build", "test", "render script"] {
        let line = format!(
            ". ./completion.bash; COMP_WORDS=(rock-matrix {command} {JOB}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))\n\
             _rock__matrix rock-matrix {JOB} x; echo \"${{COMPREPLY[*]}}\""
        );
        let run = project
            .program("bash")
            .args(["--norc", "-c", &line])
            .env("PATH", path_with_program())
            .output()
            .unwrap();
        let completed = String::from_utf8(run.stdout).unwrap();
        assert!(
            completed.split_whitespace().any(|id| id.starts_with(JOB)),
            "{command}: {completed} {}",
            String::from_utf8_lossy(&run.stderr)
        );
    }
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = project.run(&["completions", shell]).exits(0).stdout;
        assert!(!script.contains("__ROCK_MATRIX"), "{shell}");
        let lists_jobs = script.contains("rock-matrix plan --format ids");
        assert_eq!(
            lists_jobs,
            ["bash", "zsh", "fish"].contains(&shell),
            "{shell}"
        );
    }
}
