//! What the scripts of `.github/workflows/release.yml` do, run as the workflow runs them, with a
//! `gh` that only notes what it is asked.

use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

use serde_json::Value;

use crate::support::Project;

/// Answers come from files beside it; `git` is asked for one tree only.
const GH: &str = r#"#!/bin/bash
echo "$*" >>calls
case "$*" in
  "release list "*isDraft*) [ ! -e releases ] || cat releases ;;
  "release list "*) [ ! -e published ] || cat published ;;
  "release view "*) cat assets ;;
  *git/trees*) echo tree-of-it ;;
  *git/commits*) echo commit-of-it ;;
  *git/ref/heads/main*) cat main ;;
  *releases/tags/*) grep -qx "${2##*/}" published ;;
  *git/ref/tags/*.*) echo "commit-of-${2##*/}" ;;
  *git/ref/tags/*) [ -e major ] ;;
esac
exit $?
"#;
const GIT: &str = "#!/bin/bash\n[ \"$1\" != rev-parse ] || echo \"tree of $2\"\n";

fn workflow() -> Value {
    let text = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/.github/workflows/release.yml"
    ))
    .unwrap();
    serde_yaml::from_str(&text).unwrap()
}

fn step_names(job: &Value) -> Vec<String> {
    job["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["name"].as_str().unwrap().to_owned())
        .collect()
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
        std::fs::set_permissions(
            project.path(&format!("tools/{tool}")),
            PermissionsExt::from_mode(0o755),
        )
        .unwrap();
    }
    project
}

/// Runs a script of the workflow as its runner does.
fn step(project: &Project, job: &str, name: &str) -> Output {
    let workflow = workflow();
    let steps = workflow["jobs"][job]["steps"].as_array().unwrap();
    let step = steps
        .iter()
        .find(|step| step["name"] == name)
        .unwrap_or_else(|| panic!("{job} has no step `{name}`"));
    let folder = step["working-directory"].as_str().unwrap_or(".");
    let path = format!(
        "{}:{}",
        project.path("tools").display(),
        std::env::var("PATH").unwrap()
    );
    Command::new("bash")
        .args([
            "--noprofile",
            "--norc",
            "-eo",
            "pipefail",
            "-c",
            step["run"].as_str().unwrap(),
        ])
        .current_dir(project.path(folder))
        .env("PATH", path)
        .envs([
            ("GITHUB_REF_NAME", "v1.2.3"),
            ("GITHUB_REPOSITORY", "org/rock-action"),
            ("GITHUB_SHA", "pushed"),
        ])
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
fn the_notes_of_a_release_are_its_section_of_the_changelog() {
    let name = "Take the notes of the version out of the changes";
    let project = project();
    passes(&project, "check", name);
    assert_eq!(project.read("notes.md"), "\n- this\n\n");
    let without = project.file("CHANGELOG.md", "## Unreleased\n\n- this\n\n## 1.2.3\n\n");
    assert!(fails(&without, "check", name).starts_with("::error file=CHANGELOG.md::"));
    let other = without.file("Cargo.toml", "[package]\nversion = \"1.2.4\"\n");
    assert_eq!(
        fails(&other, "check", name),
        "::error file=Cargo.toml::the tag is v1.2.3 and the version is 1.2.4\n"
    );
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
        calls.contains(
            "release create v1.2.3 --draft --verify-tag --title v1.2.3 --notes-file notes.md\n"
        ),
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
    passes(
        &project,
        "release",
        "Compare what GitHub has with what was built",
    );
    let project = project.file("assets", sums.lines().next().unwrap());
    fails(
        &project,
        "release",
        "Compare what GitHub has with what was built",
    );
    let names = step_names(&workflow()["jobs"]["release"]);
    let at = |name: &str| {
        names
            .iter()
            .position(|other| other.starts_with(name))
            .unwrap()
    };
    assert!(
        at("Attest") < at("Make the draft")
            && at("Compare") < at("Move the tag")
            && at("Move the tag") < at("Publish")
    );
    assert_eq!(names.len(), at("Publish") + 1);
}

#[test]
fn the_tag_moves_to_the_commit_that_lists_the_binaries() {
    let project = project();
    passes(
        &project,
        "release",
        "Move the tag to the commit that has the checksums",
    );
    // Under the names that the job `build` gives its binaries.
    let workflow = workflow();
    let build = &workflow["jobs"]["build"];
    assert!(build.to_string().contains("dist/rock-matrix-$ARCH-linux"));
    let listed: Value = serde_json::from_str(&project.read("action/versions.json")).unwrap();
    for leg in build["strategy"]["matrix"]["include"].as_array().unwrap() {
        let platform = format!("{}-linux", leg["arch"].as_str().unwrap());
        assert_eq!(
            listed["versions"]["1.2.3"][&platform]["file"],
            format!("rock-matrix-{platform}")
        );
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
}

#[test]
fn a_tag_elsewhere_than_at_the_head_of_main_is_refused_before_anything_is_built() {
    let name = "Compare the tag with the head of main";
    let project = project().file("main", "pushed\n");
    passes(&project, "check", name);
    assert_eq!(
        project.read("calls"),
        "api repos/org/rock-action/git/ref/heads/main --jq .object.sha\n"
    );
    let project = project.file("main", "later\n");
    let stdout = fails(&project, "check", name);
    assert!(
        stdout.starts_with("::error::v1.2.3 is at pushed and the head of main is later"),
        "{stdout}"
    );
    assert!(stdout.ends_with("tag the head of main\n"), "{stdout}");
    let workflow = workflow();
    assert_eq!(step_names(&workflow["jobs"]["check"])[1], name);
    let needs = ["build", "release", "major", "pypi"]
        .map(|job| workflow["jobs"][job]["needs"].as_str().unwrap());
    assert_eq!(needs, ["check", "build", "release", "release"]);
}

#[test]
fn a_published_version_is_refused_before_its_tag_is_judged() {
    let name = "Refuse a version that is published already";
    let project = project();
    passes(&project, "check", name);
    assert_eq!(
        project.read("calls"),
        "api repos/org/rock-action/releases/tags/v1.2.3 --silent\n"
    );
    let project = project.file("published", "v1.2.2\nv1.2.30\n");
    passes(&project, "check", name);
    let project = project.file("published", "v1.2.3\n");
    let stdout = fails(&project, "check", name);
    assert_eq!(
        stdout,
        "::error::v1.2.3 is published already, and what is published does not change: raise the version, or re-run \
         only the jobs that failed\n"
    );
    assert_eq!(step_names(&workflow()["jobs"]["check"])[0], name);
}

/// `actions/checkout` refuses a tag that is not where it was when the run began.
#[test]
fn a_run_continues_after_its_tag_has_moved() {
    let workflow = workflow();
    let jobs = workflow["jobs"].as_object().unwrap().values();
    let steps = jobs.flat_map(|job| job["steps"].as_array().unwrap());
    let checkouts: Vec<&Value> = steps
        .filter(|step| {
            step["uses"]
                .as_str()
                .is_some_and(|used| used.starts_with("actions/checkout@"))
        })
        .collect();
    assert_eq!(checkouts.len(), 3);
    assert!(
        checkouts
            .iter()
            .all(|step| step["with"]["ref"] == "${{ github.sha }}"),
        "{checkouts:#?}"
    );
}

#[test]
fn only_the_highest_version_becomes_the_latest_release() {
    let published = |tags: &str| {
        let project = project().file("published", tags);
        passes(&project, "release", "Publish");
        project.read("calls").lines().last().unwrap().to_owned()
    };
    let latest = "release edit v1.2.3 --draft=false --latest=";
    for lower in [
        "",
        "v1.2.2\nv0.10.0\n",
        "v1.2.3\n",
        "flash-attn-2\nwheels-v9\nv9.0.0-rc1\n",
    ] {
        assert_eq!(published(lower), format!("{latest}true"), "{lower}");
    }
    for higher in [
        "v1.2.2\nv1.2.10\n",
        "v1.10.0\nv1.2.2\n",
        "v2.0.0\n",
        "v10.0.0\n",
    ] {
        assert_eq!(published(higher), format!("{latest}false"), "{higher}");
    }
}

#[test]
fn the_major_tag_follows_and_has_no_release() {
    let project = project();
    passes(&project, "major", "Move the major tag");
    let made = "api repos/org/rock-action/git/refs -f ref=refs/tags/v1 -f sha=commit-of-v1.2.3\n";
    assert!(
        project.read("calls").ends_with(made),
        "{}",
        project.read("calls")
    );
    let project = project.file("major", "").file("calls", "");
    passes(&project, "major", "Move the major tag");
    let moved = "api -X PATCH repos/org/rock-action/git/refs/tags/v1 -f sha=commit-of-v1.2.3 -F force=true\n";
    assert!(
        project.read("calls").ends_with(moved),
        "{}",
        project.read("calls")
    );
    assert!(
        !project.read("calls").contains("release edit")
            && !project.read("calls").contains("release create")
    );
    let workflow = workflow();
    assert_eq!(workflow["jobs"]["major"]["needs"], "release");
    // `v1` itself starts nothing.
    assert_eq!(
        workflow["on"]["push"]["tags"],
        serde_json::json!(["v[0-9]+.[0-9]+.[0-9]+"])
    );
}

/// GitHub keeps one run that waits, so whichever comes last does the work of all.
#[test]
fn the_major_tag_goes_to_the_highest_version_and_never_back() {
    let moved_to = |published: &str| {
        let project = project().file("major", "").file("published", published);
        passes(&project, "major", "Move the major tag");
        let calls = project.read("calls");
        calls
            .lines()
            .last()
            .unwrap()
            .split("sha=")
            .nth(1)
            .unwrap()
            .split(' ')
            .next()
            .unwrap()
            .to_owned()
    };
    for lower in [
        "",
        "v1.2.2\nv1.1.10\nv0.9.0\n",
        "v10.0.0\nv2.0.0\nv1.9.0-rc1\nflash-attn-1\n",
    ] {
        assert_eq!(moved_to(lower), "commit-of-v1.2.3", "{lower}");
    }
    assert_eq!(moved_to("v1.2.3\nv1.2.10\nv1.2.9\n"), "commit-of-v1.2.10");
    assert_eq!(
        moved_to("v1.9.0\nv2.0.0\nv1.10.0\nv1.2.3\n"),
        "commit-of-v1.10.0"
    );
    let group = &workflow()["jobs"]["major"]["concurrency"];
    assert_eq!(
        *group,
        serde_json::json!({"group": "${{ github.workflow }}-major", "cancel-in-progress": false})
    );
}
