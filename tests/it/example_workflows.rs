//! What the scripts of `examples/workflows` do, run as a runner runs them, with the real git and a `gh` that only notes
//! what it is asked.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::support::Project;

const PULL_REQUEST_PLAN: &str = include_str!("../../examples/workflows/pull-request-plan.yml");
const TAG_RELEASE: &str = include_str!("../../examples/workflows/tag-release.yml");
const MATRIX: &str = "version: 1\ndistribution: flash-attn\nrecipe: flash-attn\naxes:\n  flash-attn: [\"2.8.3\"]\n  \
                      python: [\"3.11\"]\n  torch: [\"2.5.1\"]\n  rocm: [\"6.2\"]\n  backend: [ck]\ngfx: [gfx90a]\n";

/// The steps of the only job.
fn steps(workflow: &str, job: &str) -> Vec<Value> {
    let workflow: Value = serde_yaml::from_str(workflow).unwrap();
    workflow["jobs"][job]["steps"].as_array().unwrap().clone()
}

/// Runs a script in `repository`, with the `tools` of the project and the program in PATH.
fn run(project: &Project, step: &Value, variables: &[(&str, &str)]) -> Output {
    let program = Path::new(env!("CARGO_BIN_EXE_rock-matrix")).parent().unwrap();
    let path = format!("{}:{}:{}", project.path("tools").display(), program.display(), std::env::var("PATH").unwrap());
    Command::new("bash")
        .args(["--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"].as_str().unwrap()])
        .current_dir(project.path("repository"))
        .env("PATH", path)
        .envs([("GITHUB_ACTIONS", "true"), ("GITHUB_REPOSITORY", "me/wheels"), ("GITHUB_SHA", "here")])
        .env("GITHUB_OUTPUT", project.path("outputs"))
        .env("GITHUB_STEP_SUMMARY", project.path("summary.md"))
        .env("RUNNER_TEMP", project.root())
        .envs(variables.iter().copied())
        .output()
        .unwrap()
}

fn git(project: &Project, words: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=somebody", "-c", "user.email=somebody@example.com"])
        .args(words)
        .current_dir(project.path("repository"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{words:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// What a pull request is told that makes the matrix file of `base`, if that is one, into [`MATRIX`].
fn told(base: Option<&str>) -> String {
    let project = Project::new().file("repository/readme.md", "wheels\n");
    git(&project, &["init", "-q"]);
    let project = match base {
        Some(text) => project.file("repository/matrices/wheels.yaml", text),
        None => project,
    };
    git(&project, &["add", "--all"]);
    git(&project, &["commit", "-q", "-m", "base"]);
    let commit = git(&project, &["rev-parse", "HEAD"]);
    let project = project.file("repository/matrices/wheels.yaml", MATRIX);
    let steps = steps(PULL_REQUEST_PLAN, "plan");
    let step = steps.iter().find(|step| step["name"] == "Compare the plans").unwrap();
    let ran = run(&project, step, &[("BASE", &commit)]);
    assert!(ran.status.success(), "{ran:?}");
    assert!(!String::from_utf8_lossy(&ran.stderr).contains("::error"), "{ran:?}");
    let comment = project.read("repository/comment.md");
    assert_eq!(project.read("summary.md"), comment);
    comment
}

#[test]
fn a_pull_request_with_the_first_matrix_file_has_its_whole_plan() {
    for base in [None, Some("version: 1\n")] {
        let comment = told(base);
        assert!(comment.starts_with("### The plan; what this is based on gives none\n\n```\n"), "{comment}");
        assert!(comment.contains("1 cell, 1 job") && comment.ends_with("\n```\n"), "{comment}");
    }
    let changed = told(Some(&MATRIX.replace("\"3.11\"", "\"3.12\"")));
    assert!(changed.starts_with("### What this changes in the plan\n\n```diff\n"), "{changed}");
    let lines = |sign: char| changed.lines().filter(|line| line.starts_with(sign)).count();
    assert!(lines('+') > 0 && lines('-') > 0 && changed.ends_with("\n```\n"), "{changed}");
}

/// GitHub gives their runs a token that reads, so all that they lack is the comment.
#[test]
fn a_pull_request_of_a_fork_has_its_plan_in_the_summary() {
    let workflow: Value = serde_yaml::from_str(PULL_REQUEST_PLAN).unwrap();
    assert!(workflow["on"].as_object().unwrap().keys().eq(["pull_request"]), "never `pull_request_target`");
    assert!(workflow["jobs"]["plan"]["if"].is_null());
    for step in steps(PULL_REQUEST_PLAN, "plan") {
        let is_comment = step["name"] == "Comment";
        let own = "github.event.pull_request.head.repo.full_name == github.repository";
        assert_eq!(step["if"], if is_comment { own.into() } else { Value::Null }, "{step}");
        assert_eq!(step["env"]["GH_TOKEN"].is_string(), is_comment, "{step}");
    }
}

/// A repository whose tags, as GitHub tells them of one that is asked for, are in the file `there`.
fn repository(there: &str) -> Project {
    let gh = "#!/bin/bash\necho \"$*\" >>../calls\ncase \"$*\" in *matching-refs*) cat ../there ;; esac\n";
    let project = Project::new().file("tools/gh", gh).file("there", there).file("repository/readme.md", "wheels\n");
    std::fs::set_permissions(project.path("tools/gh"), PermissionsExt::from_mode(0o755)).unwrap();
    project
}

#[test]
fn a_release_by_hand_goes_on_where_its_tag_names_this_commit() {
    let steps = steps(TAG_RELEASE, "tag");
    let step = steps.last().unwrap();
    let tagged = |there: &str, tag: &str| {
        let project = repository(there);
        let ran = run(&project, step, &[("TAG", tag)]);
        let calls = if project.has("calls") { project.read("calls") } else { String::new() };
        (ran.status.success(), calls, String::from_utf8(ran.stdout).unwrap())
    };
    let made = "api repos/me/wheels/git/refs --field ref=refs/tags/v1.2.3 --field sha=here\n";
    let started = "workflow run wheels.yml --repo me/wheels --ref v1.2.3\n";
    let (passed, calls, _) = tagged("", "v1.2.3");
    assert!(passed && calls.ends_with(&format!("{made}{started}")), "{calls}");
    let (passed, calls, _) = tagged("here\n", "v1.2.3");
    assert!(passed && !calls.contains(made) && calls.ends_with(started), "{calls}");
    let (passed, calls, said) = tagged("elsewhere\n", "v1.2.3");
    assert!(!passed && !calls.contains(made) && !calls.contains(started), "{calls}");
    assert_eq!(said, "::error::the tag v1.2.3 is there already, at elsewhere and not at here: choose another one\n");
    for tag in ["nightly-1", "v", "v1;x", "v1\nv2", ""] {
        let (passed, calls, said) = tagged("", tag);
        assert!(!passed && calls.is_empty() && said.starts_with("::error::the tag should be like"), "{tag}: {said}");
    }
}

/// The action moves on with its major tag, and the first line of what it renders names the version.
#[test]
fn a_release_by_hand_checks_the_workflow_with_the_version_that_rendered_it() {
    let steps = steps(TAG_RELEASE, "tag");
    let at = steps.iter().position(|step| step["id"] == "rendered").unwrap();
    assert_eq!(steps[at + 1]["with"]["version"], "${{ steps.rendered.outputs.version }}");
    let rendered = Project::new().file("matrices/wheels.yaml", MATRIX);
    let version = env!("CARGO_PKG_VERSION");
    for files in [&[][..], &["matrices/wheels.yaml"]] {
        let output = rendered.command(&[&["render", "workflow"], files].concat()).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        for (text, version) in
            [(text.replace(version, "10.20.3"), "10.20.3"), (text, version), ("name: x\n".into(), "")]
        {
            let project = repository("").file("repository/.github/workflows/wheels.yml", &text);
            assert!(run(&project, &steps[at], &[]).status.success());
            assert_eq!(project.read("outputs"), format!("version={version}\n"));
        }
    }
}
