//! What the scripts of `examples/workflows` do, run as a runner runs them, with the real git and a
//! `gh` that only notes what it is asked.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::support::Project;

const PULL_REQUEST_PLAN: &str = include_str!("../../examples/workflows/pull-request-plan.yml");
const ONE_CELL: &str = include_str!("../../examples/workflows/one-cell.yml");
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
    let program = Path::new(env!("CARGO_BIN_EXE_rock-matrix"))
        .parent()
        .unwrap();
    let path = format!(
        "{}:{}:{}",
        project.path("tools").display(),
        program.display(),
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
        .current_dir(project.path("repository"))
        .env("PATH", path)
        .envs([
            ("GITHUB_ACTIONS", "true"),
            ("GITHUB_REPOSITORY", "me/wheels"),
            ("GITHUB_SHA", "here"),
        ])
        .env("GITHUB_OUTPUT", project.path("outputs"))
        .env("GITHUB_STEP_SUMMARY", project.path("summary.md"))
        .env("RUNNER_TEMP", project.root())
        .envs(variables.iter().copied())
        .output()
        .unwrap()
}

fn git(project: &Project, words: &[&str]) -> String {
    let output = Command::new("git")
        .args([
            "-c",
            "user.name=somebody",
            "-c",
            "user.email=somebody@example.com",
        ])
        .args(words)
        .current_dir(project.path("repository"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{words:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// What a pull request is told that makes the matrix file of `base`, if that is one, into
/// [`MATRIX`].
fn pull_request_report(base: Option<&str>) -> String {
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
    let step = steps
        .iter()
        .find(|step| step["name"] == "Compare the plans")
        .unwrap();
    let ran = run(&project, step, &[("BASE", &commit)]);
    assert!(ran.status.success(), "{ran:?}");
    assert!(
        !String::from_utf8_lossy(&ran.stderr).contains("::error"),
        "{ran:?}"
    );
    let comment = project.read("repository/comment.md");
    assert_eq!(project.read("summary.md"), comment);
    comment
}

#[test]
fn a_pull_request_with_the_first_matrix_file_has_its_whole_plan() {
    for base in [None, Some("version: 1\n")] {
        let comment = pull_request_report(base);
        let comment = comment.strip_prefix("<!-- rock-matrix plan -->\n").unwrap();
        assert!(
            comment.starts_with("### The plan; what this is based on gives none\n\n```\n"),
            "{comment}"
        );
        assert!(
            comment.contains("1 cell, 1 job") && comment.ends_with("\n```\n"),
            "{comment}"
        );
    }
    let changed = pull_request_report(Some(&MATRIX.replace("\"3.11\"", "\"3.12\"")));
    let changed = changed.strip_prefix("<!-- rock-matrix plan -->\n").unwrap();
    assert!(
        changed.starts_with("### What this changes in the plan\n\n```diff\n"),
        "{changed}"
    );
    let lines = |sign: char| {
        changed
            .lines()
            .filter(|line| line.starts_with(sign))
            .count()
    };
    assert!(
        lines('+') > 0 && lines('-') > 0 && changed.ends_with("\n```\n"),
        "{changed}"
    );
}

/// GitHub gives their runs a token that reads, so all that they lack is the comment.
#[test]
fn a_pull_request_of_a_fork_has_its_plan_in_the_summary() {
    let workflow: Value = serde_yaml::from_str(PULL_REQUEST_PLAN).unwrap();
    assert!(
        workflow["on"]
            .as_object()
            .unwrap()
            .keys()
            .eq(["pull_request"]),
        "never `pull_request_target`"
    );
    assert!(workflow["jobs"]["plan"]["if"].is_null());
    for step in steps(PULL_REQUEST_PLAN, "plan") {
        let is_comment = step["name"] == "Comment";
        let own = "github.event.pull_request.head.repo.full_name == github.repository";
        assert_eq!(
            step["if"],
            if is_comment { own.into() } else { Value::Null },
            "{step}"
        );
        assert_eq!(step["env"]["GH_TOKEN"].is_string(), is_comment, "{step}");
    }
}

/// A repository whose tags, as GitHub tells them of one that is asked for, are in the file `there`.
fn repository(there: &str) -> Project {
    let gh = "#!/bin/bash\necho \"$*\" >>../calls\ncase \"$*\" in *matching-refs*) cat ../there ;; esac\n";
    let project = Project::new()
        .file("tools/gh", gh)
        .file("there", there)
        .file("repository/readme.md", "wheels\n");
    std::fs::set_permissions(project.path("tools/gh"), PermissionsExt::from_mode(0o755)).unwrap();
    project
}

#[test]
fn a_release_by_hand_continues_where_its_tag_names_this_commit() {
    let steps = steps(TAG_RELEASE, "tag");
    let step = steps.last().unwrap();
    let tagged = |there: &str, tag: &str| {
        let project = repository(there);
        let ran = run(&project, step, &[("TAG", tag)]);
        let calls = if project.has("calls") {
            project.read("calls")
        } else {
            String::new()
        };
        (
            ran.status.success(),
            calls,
            String::from_utf8(ran.stdout).unwrap(),
        )
    };
    let made = "api repos/me/wheels/git/refs --field ref=refs/tags/v1.2.3 --field sha=here\n";
    let started = "workflow run wheels.yml --repo me/wheels --ref v1.2.3\n";
    let (passed, calls, _) = tagged("", "v1.2.3");
    assert!(
        passed && calls.ends_with(&format!("{made}{started}")),
        "{calls}"
    );
    let (passed, calls, _) = tagged("here\n", "v1.2.3");
    assert!(
        passed && !calls.contains(made) && calls.ends_with(started),
        "{calls}"
    );
    let (passed, calls, text) = tagged("elsewhere\n", "v1.2.3");
    assert!(
        !passed && !calls.contains(made) && !calls.contains(started),
        "{calls}"
    );
    assert_eq!(
        text,
        "::error::the tag v1.2.3 is there already, at elsewhere and not at here: choose another one\n"
    );
    for tag in ["nightly-1", "v", "v1;x", "v1\nv2", ""] {
        let (passed, calls, text) = tagged("", tag);
        assert!(
            !passed && calls.is_empty() && text.starts_with("::error::the tag should be like"),
            "{tag}: {text}"
        );
    }
}

/// The action moves on with its major tag, and the first line of what it renders names the version.
#[test]
fn a_release_by_hand_checks_the_workflow_with_the_version_that_rendered_it() {
    let steps = steps(TAG_RELEASE, "tag");
    let at = steps
        .iter()
        .position(|step| step["id"] == "rendered")
        .unwrap();
    assert_eq!(
        steps[at + 1]["with"]["version"],
        "${{ steps.rendered.outputs.version }}"
    );
    let rendered = Project::new().file("matrices/wheels.yaml", MATRIX);
    let version = env!("CARGO_PKG_VERSION");
    for files in [&[][..], &["matrices/wheels.yaml"]] {
        let output = rendered
            .command(&[&["render", "workflow"], files].concat())
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        for (text, version) in [
            (text.replace(version, "10.20.3"), "10.20.3"),
            (text, version),
            ("name: x\n".into(), ""),
        ] {
            let project = repository("").file("repository/.github/workflows/wheels.yml", &text);
            assert!(run(&project, &steps[at], &[]).status.success());
            assert_eq!(project.read("outputs"), format!("version={version}\n"));
        }
    }
}

/// A step by its name, in a job of a workflow.
fn named(workflow: &str, job: &str, name: &str) -> Value {
    steps(workflow, job)
        .into_iter()
        .find(|step| step["name"] == name)
        .unwrap_or_else(|| panic!("{name}"))
}

/// A project in `tools` whose program `gh` answers with these lines of shell.
fn with_gh(answers: &str) -> Project {
    let gh = format!("#!/bin/bash\nprintf '%s\\n' \"$*\" >>../calls\n{answers}\n");
    let project = Project::new()
        .file("tools/gh", &gh)
        .file("repository/readme.md", "wheels\n");
    std::fs::set_permissions(project.path("tools/gh"), PermissionsExt::from_mode(0o755)).unwrap();
    project
}

/// A bot's comment is found by what it begins with, not by being the last one.
#[test]
fn the_comment_of_a_pull_request_is_found_by_its_marker() {
    let step = named(PULL_REQUEST_PLAN, "plan", "Comment");
    assert!(!step["run"].as_str().unwrap().contains("--edit-last"));
    let commented = |found: &str| {
        let gh = format!("case \"$*\" in *--paginate*) printf '{found}' ;; esac");
        let project = with_gh(&gh).file("repository/comment.md", "<!-- rock-matrix plan -->\n");
        let ran = run(&project, &step, &[("NUMBER", "7")]);
        assert!(ran.status.success(), "{ran:?}");
        project.read("calls").lines().last().unwrap().to_owned()
    };
    assert_eq!(
        commented("12\\n34\\n"),
        "api --method PATCH repos/me/wheels/issues/comments/12 --field body=@comment.md --silent"
    );
    assert_eq!(
        commented(""),
        "pr comment 7 --repo me/wheels --body-file comment.md"
    );
}

/// GitHub serves commits of forks under the address of the project, so that an issue could choose
/// code.
#[test]
fn a_requested_commit_must_be_in_a_branch_or_tag_of_the_project() {
    let step = named(ONE_CELL, "plan", "Check that the project has the commit");
    let project = Project::new().file("repository/readme.md", "wheels\n");
    git(&project, &["init", "-q", "-b", "main"]);
    git(&project, &["add", "--all"]);
    git(&project, &["commit", "-q", "-m", "first"]);
    let own = git(&project, &["rev-parse", "HEAD"]);
    git(&project, &["commit", "-q", "--allow-empty", "-m", "tagged"]);
    let tagged = git(&project, &["rev-parse", "HEAD"]);
    git(&project, &["tag", "v1"]);
    git(&project, &["reset", "-q", "--hard", &own]);
    git(
        &project,
        &["commit", "-q", "--allow-empty", "-m", "of a fork"],
    );
    let foreign = git(&project, &["rev-parse", "HEAD"]);
    git(&project, &["reset", "-q", "--hard", &own]);
    // As GitHub does, the server gives out every object that it has.
    for (name, value) in [
        ("uploadpack.allowAnySHA1InWant", "true"),
        ("uploadpack.allowFilter", "true"),
    ] {
        git(&project, &["config", name, value]);
    }
    let url = format!("file://{}", project.path("repository").display());
    let output_of = |issue: &str, given: &str| {
        let here = Project::new().file("repository/issue.md", issue);
        let ran = run(&here, &step, &[("PROJECT", &url), ("GIVEN", given)]);
        (ran.status.success(), String::from_utf8(ran.stdout).unwrap())
    };
    for commit in [&own, &tagged] {
        let (passed, text) = output_of(&format!("### flash-attn\n\nfa2:{commit}\n"), "");
        assert!(
            passed && text.contains(&format!("{commit} is in refs/")),
            "{text}"
        );
    }
    for commit in [
        foreign.as_str(),
        &own[..12],
        "main",
        "0123456789012345678901234567890123456789",
    ] {
        for (issue, given) in [
            (format!("fa2:{commit}"), String::new()),
            (String::new(), format!("fa2:{commit}")),
        ] {
            let (passed, text) = output_of(&issue, &given);
            assert!(
                !passed && text.starts_with("::error::no branch and no tag of"),
                "{commit}: {text}"
            );
        }
    }
    assert!(output_of("### flash-attn\n\n2.8.3\n", "2.8.3").0);
}

/// Who approves has seen this text, by this author, and no other.
#[test]
fn a_request_is_shown_before_it_is_approved_and_not_planned_when_it_changed() {
    let workflow: Value = serde_yaml::from_str(ONE_CELL).unwrap();
    assert!(workflow["jobs"]["request"]["environment"].is_null());
    assert_eq!(
        (
            &workflow["jobs"]["plan"]["needs"],
            &workflow["jobs"]["plan"]["environment"]
        ),
        (&"request".into(), &"requests".into())
    );
    let issue = |body: &str, edited: &str| {
        let issue = serde_json::json!({"body": body, "createdAt": "2026-11-01T00:00:00Z", "lastEditedAt": edited, "author": {"login": "somebody"}});
        let answer = serde_json::json!({"data": {"repository": {"issue": issue}}}).to_string();
        with_gh(&format!("cat <<'ANSWER'\n{answer}\nANSWER"))
    };
    let shown = issue("### python\n\n3.12\n", "2026-11-02T00:00:00Z");
    let show = named(ONE_CELL, "request", "Show the request");
    assert!(
        run(&shown, &show, &[("ISSUE", "7"), ("ASKED_BY", "me")])
            .status
            .success()
    );
    insta::assert_snapshot!(shown.read("summary.md"), @r"
    ### Issue 7, by somebody

    Last edited: 2026-11-02T00:00:00Z

        ### python
        
        3.12
    ");
    let outputs = shown.read("outputs");
    let output = |name: &str| {
        let line = outputs
            .lines()
            .find_map(|line| line.strip_prefix(&format!("{name}=")));
        line.unwrap().to_owned()
    };
    let variables = [
        ("ISSUE", "7"),
        ("EDITED", &output("edited")),
        ("DIGEST", &output("digest")),
    ];
    let again = named(ONE_CELL, "plan", "Read the request again");
    assert!(run(&shown, &again, &variables).status.success());
    for changed in [
        issue("### python\n\n3.12\n", "2026-11-03T00:00:00Z"),
        issue("### python\n\n3.13\n", "2026-11-02T00:00:00Z"),
    ] {
        let ran = run(&changed, &again, &variables);
        let stdout = String::from_utf8(ran.stdout).unwrap();
        assert!(
            !ran.status.success() && stdout.contains("after it was shown"),
            "{stdout}"
        );
    }
}

/// The build of one combination begins as those of rendered workflows do.
#[test]
fn one_cell_prepares_its_runner_as_rendered_workflows_do() {
    let rendered = include_str!("render_a_workflow/default.yml");
    let step = |workflow: &str, name: &str| {
        steps(workflow, "build")
            .into_iter()
            .find(|step| step["name"] == name)
            .unwrap_or_else(|| panic!("no `{name}`"))
    };
    for name in [
        "Note when the job began",
        "Free disk",
        "Remove what a killed leg left",
    ] {
        assert_eq!(step(ONE_CELL, name), step(rendered, name), "{name}");
    }
}
