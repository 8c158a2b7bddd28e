//! What the scripts of `.github/workflows/release.yml` do, run as the workflow runs them, with a `gh` that only notes
//! what it is asked.

use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

use serde_json::Value;

use crate::support::Project;

/// Answers come from files beside it; `git` is asked for one tree only.
const GH: &str = r#"#!/bin/bash
echo "$*" >>calls
case "$*" in
  "release list "*) [ ! -e releases ] || cat releases ;;
  "release view "*) cat assets ;;
  *git/trees*) echo tree-of-it ;;
  *git/commits*) echo commit-of-it ;;
  *git/ref/tags/*) [ -e major ] ;;
esac
exit $?
"#;
const GIT: &str = "#!/bin/bash\n[ \"$1\" != rev-parse ] || echo \"tree of $2\"\n";

fn workflow() -> Value {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/.github/workflows/release.yml")).unwrap();
    serde_yaml::from_str(&text).unwrap()
}

fn step_names(job: &Value) -> Vec<String> {
    job["steps"].as_array().unwrap().iter().map(|step| step["name"].as_str().unwrap().to_owned()).collect()
}

/// A checkout at the tag `v1.2.3`, with two binaries that were built.
fn project() -> Project {
    let project = Project::new()
        .file("tools/gh", GH)
        .file("tools/git", GIT)
        .copy("action", "action")
        .file("Cargo.toml", "[package]\nname = \"rock-matrix\"\nversion = \"1.2.3\"\n")
        .file("CHANGELOG.md", "# Changelog\n\n## Unreleased\n\n- not this\n\n## 1.2.3 - 2026-12-01\n\n- this\n\n## 1.2.30\n\n- nor this\n")
        .file("dist/rock-matrix-aarch64-linux", "arm\n")
        .file("dist/rock-matrix-x86_64-linux", "x86\n");
    for tool in ["gh", "git"] {
        std::fs::set_permissions(project.path(&format!("tools/{tool}")), PermissionsExt::from_mode(0o755)).unwrap();
    }
    project
}

/// Runs a script of the workflow as its runner does.
fn step(project: &Project, job: &str, name: &str) -> Output {
    let workflow = workflow();
    let steps = workflow["jobs"][job]["steps"].as_array().unwrap();
    let step = steps.iter().find(|step| step["name"] == name).unwrap_or_else(|| panic!("{job} has no step `{name}`"));
    let folder = step["working-directory"].as_str().unwrap_or(".");
    let path = format!("{}:{}", project.path("tools").display(), std::env::var("PATH").unwrap());
    Command::new("bash")
        .args(["--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"].as_str().unwrap()])
        .current_dir(project.path(folder))
        .env("PATH", path)
        .envs([("GITHUB_REF_NAME", "v1.2.3"), ("GITHUB_REPOSITORY", "org/rock-action"), ("GITHUB_SHA", "pushed")])
        .envs([("GITHUB_OUTPUT", "outputs"), ("COMMIT", "commit-of-it")])
        .output()
        .unwrap()
}

fn passes(project: &Project, job: &str, name: &str) {
    let output = step(project, job, name);
    assert!(output.status.success(), "{name}: {output:?}");
}

/// What it says when it fails, which it must.
fn fails(project: &Project, job: &str, name: &str) -> String {
    let output = step(project, job, name);
    assert!(!output.status.success(), "{name}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_notes_of_a_release_are_what_the_changes_say_of_its_version() {
    let name = "Take the notes of the version out of the changes";
    let project = project();
    passes(&project, "check", name);
    assert_eq!(project.read("notes.md"), "\n- this\n\n");
    let without = project.file("CHANGELOG.md", "## Unreleased\n\n- this\n\n## 1.2.3\n\n");
    assert!(fails(&without, "check", name).starts_with("::error file=CHANGELOG.md::"));
    let other = without.file("Cargo.toml", "[package]\nversion = \"1.2.4\"\n");
    assert_eq!(fails(&other, "check", name), "::error file=Cargo.toml::the tag is v1.2.3 and the version is 1.2.4\n");
}

#[test]
fn a_release_is_a_draft_until_github_has_what_was_built() {
    let project = project();
    passes(&project, "release", "Write checksums");
    let sums = project.read("dist/SHA256SUMS");
    assert_eq!(sums.lines().count(), 2, "{sums}");
    passes(&project, "release", "Make the draft");
    let calls = project.read("calls");
    assert!(
        calls.contains("release create v1.2.3 --draft --verify-tag --title v1.2.3 --notes-file notes.md\n"),
        "{calls}"
    );
    assert!(calls.ends_with(
        "release upload v1.2.3 --clobber dist/SHA256SUMS dist/rock-matrix-aarch64-linux dist/rock-matrix-x86_64-linux\n"
    ));
    // The draft of a run that stopped is filled again, and what is public stays.
    let project = project.file("releases", "true\n").file("calls", "");
    passes(&project, "release", "Make the draft");
    assert!(!project.read("calls").contains("release create"));
    let project = project.file("releases", "false\n").file("calls", "");
    assert!(fails(&project, "release", "Make the draft").contains("published already"));
    assert!(!project.read("calls").contains("upload"));

    let project = project.file("assets", &sums);
    passes(&project, "release", "Compare what GitHub has with what was built");
    let project = project.file("assets", sums.lines().next().unwrap());
    fails(&project, "release", "Compare what GitHub has with what was built");
    let names = step_names(&workflow()["jobs"]["release"]);
    let at = |name: &str| names.iter().position(|other| other.starts_with(name)).unwrap();
    assert!(
        at("Attest") < at("Make the draft") && at("Compare") < at("Move the tag") && at("Move the tag") < at("Publish")
    );
    assert_eq!(names.len(), at("Publish") + 1);
}

#[test]
fn the_tag_moves_to_the_commit_that_lists_the_binaries() {
    let project = project();
    passes(&project, "release", "Move the tag to the commit that has the checksums");
    // Under the names that the job `build` gives its binaries.
    let workflow = workflow();
    let build = &workflow["jobs"]["build"];
    assert!(build.to_string().contains("dist/rock-matrix-$ARCH-linux"));
    let listed: Value = serde_json::from_str(&project.read("action/versions.json")).unwrap();
    for leg in build["strategy"]["matrix"]["include"].as_array().unwrap() {
        let platform = format!("{}-linux", leg["arch"].as_str().unwrap());
        assert_eq!(listed["versions"]["1.2.3"][&platform]["file"], format!("rock-matrix-{platform}"));
    }
    let calls = project.read("calls");
    let calls: Vec<&str> = calls.lines().collect();
    assert_eq!(
        calls,
        [
            "api repos/org/rock-action/git/trees -f base_tree=tree of pushed^{tree} -f tree[][path]=action/versions.json -f \
             tree[][mode]=100644 -f tree[][type]=blob -F tree[][content]=@action/versions.json --jq .sha",
            "api repos/org/rock-action/git/commits -f message=List the binaries of v1.2.3 -f tree=tree-of-it -f \
             parents[]=pushed --jq .sha",
            "api -X PATCH repos/org/rock-action/git/refs/tags/v1.2.3 -f sha=commit-of-it -F force=true",
        ]
    );
    assert_eq!(project.read("outputs"), "sha=commit-of-it\n");
}

#[test]
fn the_major_tag_follows_and_has_no_release() {
    let project = project();
    passes(&project, "major", "Move the major tag");
    assert!(
        project.read("calls").ends_with("api repos/org/rock-action/git/refs -f ref=refs/tags/v1 -f sha=commit-of-it\n")
    );
    let project = project.file("major", "").file("calls", "");
    passes(&project, "major", "Move the major tag");
    let moved = "api -X PATCH repos/org/rock-action/git/refs/tags/v1 -f sha=commit-of-it -F force=true\n";
    assert!(project.read("calls").ends_with(moved), "{}", project.read("calls"));
    assert!(!project.read("calls").contains("release"));
    let workflow = workflow();
    assert_eq!(workflow["jobs"]["major"]["needs"], "release");
    // `v1` itself starts nothing.
    assert_eq!(workflow["on"]["push"]["tags"], serde_json::json!(["v[0-9]+.[0-9]+.[0-9]+"]));
}
