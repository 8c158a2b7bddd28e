//! One combination that an issue asks for, what failed in a run, and the workflows of
//! `examples/workflows`.

use serde_json::Value;

use crate::newer_actions::{release, world};
use crate::support::Project;

const FORM: &str = include_str!("../../examples/workflows/issue/request-a-wheel.yml");

/// What GitHub makes of the form.
fn body(values: &[(&str, &str)]) -> String {
    values
        .iter()
        .map(|(axis, value)| format!("### {axis}\r\n\r\n{value}\r\n\r\n"))
        .collect()
}

fn request(python: &str, torch: &str) -> String {
    body(&[
        ("flash-attn", "2.8.3"),
        ("python", python),
        ("torch", torch),
        ("rocm", "6.4"),
        ("backend", "ck"),
        ("What it is for", "work"),
    ])
}

fn project(issue: &str) -> Project {
    Project::new()
        .copy("matrices/flash-attn.yaml", "matrices/flash-attn.yaml")
        .file("issue.md", issue)
}

#[test]
fn the_fields_of_the_form_are_the_axes_of_the_matrix_file() {
    let form: Value = serde_yaml::from_str(FORM).unwrap();
    let fields = form["body"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|field| field["validations"]["required"] == true);
    let labels: Vec<&str> = fields
        .map(|field| field["attributes"]["label"].as_str().unwrap())
        .collect();
    let matrix: Value =
        serde_yaml::from_str(include_str!("../../matrices/flash-attn.yaml")).unwrap();
    let axes: Vec<&str> = matrix["axes"]
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(labels, axes);
    let backend = form["body"]
        .as_array()
        .unwrap()
        .iter()
        .find(|field| field["id"] == "backend")
        .unwrap();
    assert_eq!(backend["attributes"]["options"], matrix["axes"]["backend"]);
}

/// A cell that the file does not list, with everything else of the file.
#[test]
fn an_issue_becomes_one_row_of_the_matrix_file() {
    let project = project(&request("3.13", "2.9.1"));
    let outcome = project
        .run(&["plan", "--from-issue", "issue.md", "--format", "json"])
        .exits(0);
    let plan = outcome.json();
    let jobs = plan["jobs"].as_array().unwrap();
    assert_eq!(jobs.len(), 1, "{plan}");
    assert_eq!(
        jobs[0]["wheel"],
        "flash_attn-2.8.3+rocm64torch2.9-cp313-cp313-linux_x86_64.whl"
    );
    assert_eq!(
        jobs[0]["gfx"],
        serde_json::json!(["gfx90a", "gfx942"]),
        "the file's own targets"
    );
    let row = "issue.md requests {flash-attn: \"2.8.3\", python: \"3.13\", torch: \"2.9.1\", rocm: \"6.4\", backend: \"ck\"}";
    assert!(outcome.stderr.contains(row), "{}", outcome.stderr);
}

#[test]
fn hostile_and_unknown_values_are_reported_at_their_line() {
    let refused = |issue: &str| {
        project(issue)
            .run(&["plan", "--from-issue", "issue.md", "--format", "json"])
            .exits(1)
    };
    for value in [
        "3.12\nrunner: mine",
        "3.12\"]",
        "${{ github.token }}",
        "$(touch canary)",
        "`id`",
        "'",
        "3.12 # x",
        "*x",
    ] {
        let outcome = refused(&request(value, "2.9.1"));
        assert!(
            outcome.stderr.contains(" bad-issue]: `python` ")
                && outcome.stderr.contains("--> issue.md:7:1"),
            "{value:?}: {}",
            outcome.stderr
        );
        assert_eq!(outcome.stdout, "", "{value:?}");
    }
    // A short commit can come to mean another one, and one of a fork.
    let body = request("3.12", "2.9.1");
    let commit = "4a948e9d1a2b3c4d5e6f708192a3b4c5d6e7f809";
    for short in ["fa2:4a948e9", &format!("fa2:{}", &commit[..39])] {
        let outcome = refused(&body.replace("2.8.3", short));
        assert!(
            outcome
                .stderr
                .contains("[M053 bad-issue]: `flash-attn` abbreviates a commit"),
            "{}",
            outcome.stderr
        );
    }
    let full = project(&body.replace("2.8.3", &format!("fa2:{commit}")));
    let _ = full
        .run(&["plan", "--from-issue", "issue.md", "--format", "json"])
        .exits(0);
    // M053
    let outcome = refused("hello");
    assert!(
        outcome
            .stderr
            .starts_with("error[M053 bad-issue]: the issue does not select a value for"),
        "{}",
        outcome.stderr
    );
    // Words that are no versions, and versions that no fact knows, point into the issue too.
    for (python, torch, line) in [
        ("three", "2.9.1", 7),
        ("3.12", "latest", 11),
        ("3.12", "99.0.0", 11),
    ] {
        let outcome = refused(&request(python, torch));
        assert!(
            outcome.stderr.contains(&format!("--> issue.md:{line}:")),
            "{python} {torch}: {}",
            outcome.stderr
        );
        assert!(
            !outcome.stderr.contains("matrices/flash-attn.yaml:"),
            "{}",
            outcome.stderr
        );
    }
}

#[test]
fn an_issue_is_about_one_matrix_file() {
    let project =
        project(&request("3.13", "2.9.1")).copy("matrices/flash-attn.yaml", "matrices/other.yaml");
    let outcome = project.run(&["plan", "--from-issue", "issue.md"]).exits(1);
    assert!(
        outcome.stderr.contains("one matrix file, and there are 2"),
        "{}",
        outcome.stderr
    );
    let _ = project
        .run(&["plan", "matrices/other.yaml", "--from-issue", "issue.md"])
        .exits(0);
}

#[test]
fn a_second_attempt_plans_what_failed_and_nothing_else() {
    let project = project("");
    let ids: Vec<String> = project.run(&["plan", "--format", "json"]).exits(0).json()["jobs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|job| job["id"].as_str().unwrap().to_owned())
        .collect();
    let job = |name: &str, end: &str| serde_json::json!({"name": name, "run_attempt": 1, "conclusion": end});
    let page = |jobs: Vec<Value>| serde_json::json!({"total_count": 4, "jobs": jobs});
    let first = page(vec![
        job("Plan", "success"),
        job(&ids[0], "success"),
        job(&ids[3], "failure"),
    ]);
    let second = page(vec![job(&ids[7], "timed_out"), job("Publish", "skipped")]);
    let project = project
        .file("run.json", &format!("{first}\n{second}\n"))
        .file("slurped.json", &format!("[{first},{second}]"));
    for run in ["run.json", "slurped.json"] {
        let plan = project
            .run(&["plan", "--only-failed", run, "--format", "json"])
            .exits(0)
            .json();
        let left: Vec<&str> = plan["jobs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|job| job["id"].as_str().unwrap())
            .collect();
        assert_eq!(left, [&ids[3], &ids[7]]);
    }
}

/// A project of three jobs with a test of each on another runner, their ids, and the jobs of a run
/// with their ends.
fn three_with_tests(run: &[(&str, &str)]) -> (Project, Vec<String>) {
    let matrix =
        include_str!("../../matrices/flash-attn.yaml").replace("\"2.6.3\", \"2.7.4\", ", "");
    let matrix = matrix
        .replace("[ck, triton]", "[ck]")
        .replace("[\"2.5.1\", \"2.6.0\"]", "[\"2.5.1\"]");
    let matrix =
        matrix.replace("[\"6.1\", \"6.2\"]", "[\"6.2\"]") + "test: {runner: mi300x, gpu: none}\n";
    let jobs: Vec<Value> = run
        .iter()
        .map(|(name, end)| serde_json::json!({"name": name, "run_attempt": 1, "conclusion": end}))
        .collect();
    let project = Project::new()
        .file("matrices/flash-attn.yaml", &matrix)
        .file(
            "run.json",
            &serde_json::json!({"total_count": jobs.len(), "jobs": jobs}).to_string(),
        );
    let plan = project.run(&["plan", "--format", "json"]).exits(0).json();
    let ids = plan["jobs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|job| job["id"].as_str().unwrap().to_owned())
        .collect();
    (project, ids)
}

#[test]
fn a_leg_whose_test_failed_is_planned_again() {
    let (project, ids) = three_with_tests(&[]);
    let workflow = project.run(&["render", "workflow"]).exits(0).stdout;
    let workflow: Value = serde_yaml::from_str(&workflow).unwrap();
    let name = |job: &str, id: &str| {
        workflow["jobs"][job]["name"]
            .as_str()
            .unwrap()
            .replace("${{ matrix.id }}", id)
    };
    let (built, tested) = (name("build", &ids[1]), name("gpu-test", &ids[1]));
    assert_ne!(built, tested);
    let (project, _) = three_with_tests(&[(&built, "success"), (&tested, "failure")]);
    let plan = project
        .run(&["plan", "--only-failed", "run.json", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(
        (
            plan["jobs"].as_array().unwrap().len(),
            plan["jobs"][0]["id"].as_str()
        ),
        (1, Some(ids[1].as_str()))
    );
}

#[test]
fn what_did_not_fail_is_counted_named_and_kept_in_the_plan_file() {
    let ids = three_with_tests(&[]).1;
    let (project, _) = three_with_tests(&[
        (&ids[0], "failure"),
        (&ids[1], "success"),
        (&ids[2], "cancelled"),
    ]);
    let all = project.run(&["plan", "--format", "json"]).exits(0).json();
    let wheel = all["jobs"][1]["wheel"].as_str().unwrap();
    let shown = project
        .run(&["plan", "--only-failed", "run.json"])
        .exits(0)
        .stdout;
    let line = "matrices/flash-attn.yaml: 3 cells, 2 jobs, 0 excluded, 1 did not fail in the run\n";
    assert!(shown.starts_with(line), "{shown}");
    assert!(
        shown.contains(&format!("\ndid not fail in the run:\n  {wheel}\n")),
        "{shown}"
    );
    let _ = project
        .run(&[
            "plan",
            "--only-failed",
            "run.json",
            "--format",
            "json",
            "--out",
            "plan.json",
        ])
        .exits(0);
    let plan: Value = serde_json::from_str(&project.read("plan.json")).unwrap();
    assert_eq!(
        (&plan["not_failed"], &plan["published"]),
        (&serde_json::json!([wheel]), &serde_json::json!([]))
    );
    assert_eq!(all["not_failed"], serde_json::json!([]));
    // It is read back, and one of before that is without it too.
    let _ = project
        .run(&["build", "--all", "--plan", "plan.json", "--dry-run"])
        .exits(0);
    let project = project
        .env("GITHUB_STEP_SUMMARY", "summary.md")
        .env("GITHUB_OUTPUT", "outputs");
    let _ = project
        .run(&["plan", "--only-failed", "run.json", "--github-output"])
        .exits(0);
    let summary = project.read("summary.md");
    assert!(
        summary.contains("\n1 job omitted, because they did not fail in the run.\n"),
        "{summary}"
    );
}

#[test]
fn a_run_without_failures_leaves_no_jobs_with_a_message() {
    let ids = three_with_tests(&[]).1;
    let (project, _) = three_with_tests(&[(&ids[0], "success"), (&ids[1], "success")]);
    insta::assert_snapshot!(project.run(&["plan", "--only-failed", "run.json"]).exits(0).stderr, @r"
    warning[P014 empty-plan]: the plan has no jobs: none of them failed in `run.json`
    help: plan without `--only-failed` to build all of them again
    ");
    let stderr = project
        .run(&["plan", "--only-failed", "run.json", "--fail-empty"])
        .exits(1)
        .stderr;
    assert!(
        stderr.starts_with("error[P014 empty-plan]: the plan has no jobs: none of them failed"),
        "{stderr}"
    );
}

#[test]
fn failed_jobs_that_are_none_of_the_plan_are_named() {
    let ids = three_with_tests(&[]).1;
    let run = [
        (ids[0].as_str(), "failure"),
        ("Publish", "failure"),
        ("Test other-1.0", "timed_out"),
        ("Plan", "success"),
    ];
    let (project, _) = three_with_tests(&run);
    let outcome = project.run(&["plan", "--only-failed", "run.json"]).exits(0);
    insta::assert_snapshot!(outcome.stderr, @r"
    warning[P050 bad-run-file]: 2 failed jobs are not in this plan: `Publish`, `other-1.0`
    --> run.json
    help: plan the matrix files of that run; wheels published since then are not planned again
    ");
    assert!(outcome.stdout.contains(" 1 job, "), "{}", outcome.stdout);
}

#[test]
fn a_file_that_lists_no_run_is_refused() {
    let (project, _) = three_with_tests(&[]);
    for text in ["{}", "[]", "[[]]"] {
        let project = Project::new()
            .file("bad.json", text)
            .file("m.yaml", &project.read("matrices/flash-attn.yaml"));
        let stderr = project
            .run(&["plan", "m.yaml", "--only-failed", "bad.json"])
            .exits(1)
            .stderr;
        assert!(
            stderr.starts_with("error[P050 bad-run-file]: `bad.json`: it does not list the jobs"),
            "{text}: {stderr}"
        );
        assert!(
            stderr.contains("help: save it with `gh api repos/OWNER/REPO/actions/runs/ID/jobs"),
            "{stderr}"
        );
    }
}

/// What the job `failures` of a rendered workflow runs, for two builds that failed and one that
/// left nothing.
#[test]
fn failed_legs_are_named_with_their_reasons_and_nothing_is_published() {
    let project = project("");
    let _ = project
        .run(&["plan", "--format", "json", "--out", "plan.json"])
        .exits(0);
    let plan: Value = serde_json::from_str(&project.read("plan.json")).unwrap();
    let id = |number: usize| plan["jobs"][number]["id"].as_str().unwrap().to_owned();
    let failed = |number: usize, stage: &str| serde_json::json!({"job": id(number), "outcome": "failed", "stages": [{"stage": stage, "state": "failed", "ended": "exit 1"}]});
    let project = project
        .file(
            &format!("results/result-{}/build.json", id(0)),
            &failed(0, "build").to_string(),
        )
        .file(
            &format!("results/result-{}/build.json", id(1)),
            &failed(1, "checkout").to_string(),
        );
    let workflow = project.run(&["render", "workflow"]).exits(0).stdout;
    let workflow: Value = serde_yaml::from_str(&workflow).unwrap();
    let job = &workflow["jobs"]["failures"];
    // A leg that ran out of time has the result `cancelled`; `cancelled()` is true where somebody
    // stopped the run.
    let when = "!cancelled() && (contains(needs.*.result, 'failure') || contains(needs.*.result, 'cancelled'))";
    assert!(job["if"].as_str().unwrap().contains(when), "{}", job["if"]);
    assert_eq!(job["needs"], workflow["jobs"]["publish"]["needs"]);
    assert_eq!(job["permissions"], serde_json::json!({}));
    let publish = workflow["jobs"]["publish"].to_string();
    assert!(
        !publish.contains("--allow-missing"),
        "an incomplete release is never published"
    );
    let script = job["steps"]
        .as_array()
        .unwrap()
        .iter()
        .rev()
        .find_map(|step| step["run"].as_str())
        .unwrap();
    let script = script.replace("rock-matrix ", "\"$ROCK\" ");
    let mut bash = std::process::Command::new("bash");
    bash.args(["-e", "-o", "pipefail", "-c", &script])
        .current_dir(project.root())
        .env("ROCK", env!("CARGO_BIN_EXE_rock-matrix"));
    bash.env("RESULTS", "build: failure")
        .env("LEGS_0", "{}")
        .env("GITHUB_STEP_SUMMARY", project.path("summary.md"))
        .env_remove("GITHUB_ACTIONS");
    let ran = bash.output().unwrap();
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    let summary = project.read("summary.md");
    let count = plan["jobs"].as_array().unwrap().len();
    let head = format!(
        "### Nothing was published\n\nbuild: failure\n\n{count} of the {count} planned wheels are missing:\n"
    );
    assert!(summary.starts_with(&head), "{summary}");
    assert!(
        summary.contains("failed: stage `build`, exit 1")
            && summary.contains("failed: stage `checkout`, exit 1")
            && summary.contains("| its result is unknown |"),
        "{summary}"
    );
}

fn examples() -> Vec<(String, Value, String)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/workflows");
    let mut found: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .collect();
    found.sort();
    let read = |path: &std::path::PathBuf| {
        let text = std::fs::read_to_string(path).unwrap();
        (
            path.file_name().unwrap().to_str().unwrap().to_owned(),
            serde_yaml::from_str(&text).unwrap(),
            text,
        )
    };
    found.iter().map(read).collect()
}

/// `tests/real/workflow-lint.sh` judges them with the linters of others.
#[test]
fn the_example_workflows_have_least_rights_pinned_actions_and_commands_that_there_are() {
    let facts = std::fs::read_to_string(
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("matrices/compat/actions.yaml"),
    )
    .unwrap();
    let examples = examples();
    assert_eq!(examples.len(), 6);
    let commands = rock_matrix::cli::command();
    for (name, workflow, text) in examples {
        assert_eq!(workflow["permissions"], serde_json::json!({}), "{name}");
        for (id, job) in workflow["jobs"].as_object().unwrap() {
            assert!(
                job["permissions"].is_object()
                    && !job["timeout-minutes"].is_null()
                    && job["name"].is_string(),
                "{name}: {id}"
            );
            for step in job["steps"].as_array().unwrap() {
                if let Some(uses) = step["uses"].as_str() {
                    let (action, pin) = uses.split_once('@').unwrap();
                    assert!(
                        action == "org/rock-action" || facts.contains(pin),
                        "{name}: {uses}"
                    );
                    assert!(
                        action != "actions/checkout"
                            || step["with"]["persist-credentials"] == false,
                        "{name}"
                    );
                } else {
                    assert!(
                        step["shell"] == "bash" && !step["run"].as_str().unwrap().contains("${{"),
                        "{name}"
                    );
                }
            }
        }
        for line in text
            .lines()
            .filter(|line| line.contains("rock-matrix ") && !line.trim_start().starts_with('#'))
        {
            let words = line
                .split("rock-matrix ")
                .nth(1)
                .unwrap()
                .split([')', '|', '>'])
                .next()
                .unwrap();
            let own = workflow["env"].as_object().into_iter().flatten();
            let words = own.fold(
                words
                    .replace("$ENGINE", "local")
                    .replace("$CAP", "330")
                    .replace("$BEGAN", "1750000000"),
                |words, (name, value)| words.replace(&format!("${name}"), value.as_str().unwrap()),
            );
            let words = shlex::split(&words).unwrap();
            let parsed = commands
                .clone()
                .try_get_matches_from(std::iter::once("rock-matrix".to_owned()).chain(words));
            assert!(parsed.is_ok(), "{name}: {line}: {}", parsed.unwrap_err());
        }
    }
}

/// Runs a script of an example as its runner does, with what is in `tools` before the programs of
/// the machine.
fn run_step(
    project: &Project,
    workflow: &str,
    name: &str,
    variables: &[(&str, &str)],
) -> std::process::Output {
    let found = examples()
        .into_iter()
        .find(|(file, _, _)| file == workflow)
        .unwrap()
        .1;
    let mut steps = found["jobs"]
        .as_object()
        .unwrap()
        .values()
        .flat_map(|job| job["steps"].as_array().unwrap());
    let step = steps.find(|step| step["name"] == name).unwrap();
    let path = format!(
        "{}:{}",
        project.path("tools").display(),
        std::env::var("PATH").unwrap()
    );
    let mut bash = std::process::Command::new("bash");
    bash.args([
        "--noprofile",
        "--norc",
        "-eo",
        "pipefail",
        "-c",
        step["run"].as_str().unwrap(),
    ])
    .current_dir(project.root())
    .env_clear()
    .env("PATH", path)
    .env("ROCK", env!("CARGO_BIN_EXE_rock-matrix"))
    .env("GITHUB_REPOSITORY", "me/wheels")
    .env("GITHUB_STEP_SUMMARY", "summary.md");
    for variable in step["env"].as_object().unwrap().keys() {
        bash.env(variable, "");
    }
    bash.envs(variables.iter().copied()).output().unwrap()
}

fn tool(project: Project, name: &str, script: &str) -> Project {
    let project = project.file(
        &format!("tools/{name}"),
        &format!("#!/usr/bin/env bash\nset -eu\n{script}\n"),
    );
    let path = project.path(&format!("tools/{name}"));
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    project
}

/// `gh` with tags and published releases in files, as the API's answers are after their `--jq`.
const GH: &str = r#"case "$*" in
  "api repos/me/wheels/git/matching-refs/tags/"*) cat tags ;;
  "release list --repo me/wheels "*"--exclude-drafts "*) cat published ;;
  "api repos/me/wheels/git/refs "*)
    ref=${4#ref=} sha=${6#sha=}
    if [ -z "${ref##refs/tags/*}" ] && ! grep -q "^$ref " tags; then echo "$ref $sha" >> tags; else exit 1; fi ;;
  "workflow run wheels.yml --repo me/wheels --ref "*) echo "$7" >> started ;;
  *) echo "gh $*" >&2; exit 9 ;;
esac"#;

#[test]
fn a_second_nightly_run_of_a_day_reuses_its_unpublished_tag() {
    let project = ["tags", "published", "started"]
        .iter()
        .fold(project(""), |project, file| project.file(file, ""));
    let project = tool(tool(project, "gh", GH), "date", "echo 20261122");
    let night = |commit: &str| {
        let ran = run_step(
            &project,
            "nightly.yml",
            "Tag and start",
            &[("GITHUB_SHA", commit)],
        );
        assert!(
            ran.status.success(),
            "{}",
            String::from_utf8_lossy(&ran.stderr)
        );
        project.read("started").lines().last().unwrap().to_owned()
    };
    let started = [night("c1"), night("c1"), night("c2"), night("c2")];
    assert_eq!(
        started,
        [
            "nightly-20261122",
            "nightly-20261122",
            "nightly-20261122.2",
            "nightly-20261122.2"
        ]
    );
    std::fs::write(project.path("published"), "v1\nnightly-20261122.2\n").unwrap();
    assert_eq!(
        [night("c2"), night("c1")],
        ["nightly-20261122.3", "nightly-20261122"]
    );
    let tags = project.read("tags");
    let made = [
        "nightly-20261122 c1",
        "nightly-20261122.2 c2",
        "nightly-20261122.3 c2",
    ];
    assert_eq!(
        tags.lines().collect::<Vec<_>>(),
        made.map(|tag| format!("refs/tags/{tag}"))
    );
    assert!(
        project
            .read("summary.md")
            .contains("under the tag `nightly-20261122.3`")
    );
    let used: String = (2..=20)
        .map(|at| format!("refs/tags/nightly-20261122.{at} c0\n"))
        .collect();
    std::fs::write(
        project.path("tags"),
        format!("refs/tags/nightly-20261122 c0\n{used}"),
    )
    .unwrap();
    let ran = run_step(
        &project,
        "nightly.yml",
        "Tag and start",
        &[("GITHUB_SHA", "c1")],
    );
    assert!(
        !ran.status.success()
            && ran
                .stdout
                .starts_with(b"::error::nightly-20261122 has no tag left")
    );
}

/// The inputs of a run by hand are values and nothing else.
#[test]
fn one_combination_is_that_of_an_issue_or_what_the_values_choose() {
    let project = tool(
        project(&request("3.13", "2.9.1")),
        "rock-matrix",
        "exec \"$ROCK\" \"$@\"",
    );
    let plan = |values: &[(&str, &str)]| {
        let _ = std::fs::remove_file(project.path("plan.json"));
        let _ = std::fs::remove_file(project.path("outputs"));
        let ran = run_step(
            &project,
            "one-cell.yml",
            "Plan",
            &[values, &[("GITHUB_OUTPUT", "outputs")]].concat(),
        );
        let output = String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into_owned();
        if !ran.status.success() {
            return Err(output);
        }
        let plan: Value = serde_json::from_str(&project.read("plan.json")).unwrap();
        let ids = plan["jobs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|job| job["id"].as_str().unwrap().to_owned());
        let ids: Vec<String> = ids.collect();
        assert!(
            project
                .read("outputs")
                .contains(&format!("count={}\n", ids.len())),
            "{output}"
        );
        Ok(ids)
    };
    let all = project.run(&["plan", "--format", "json"]).exits(0).json();
    let with = |axis: &str, value: &str| {
        let jobs = all["jobs"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|job| job["axes"][axis] == value);
        jobs.map(|job| job["id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let of = |values: &[(&str, &str)]| plan(values).unwrap();
    assert_eq!(of(&[("ISSUE", "7")]).len(), 1);
    let (torch, python) = (
        all["jobs"][0]["axes"]["torch"].as_str().unwrap(),
        all["jobs"][0]["axes"]["python"].as_str().unwrap(),
    );
    assert_eq!(of(&[("TORCH", torch)]), with("torch", torch));
    assert!(
        !with("torch", torch).is_empty()
            && with("torch", torch).len() < all["jobs"].as_array().unwrap().len()
    );
    let both: Vec<String> = with("torch", torch)
        .into_iter()
        .filter(|id| with("python", python).contains(id))
        .collect();
    assert_eq!(of(&[("TORCH", torch), ("PYTHON", python)]), both);
    assert!(
        plan(&[])
            .unwrap_err()
            .contains("::error::enter the number of an issue or at least one value")
    );
    for hostile in [
        "2.9.1\" --out x",
        "$(touch canary)",
        "`touch canary`",
        "; touch canary",
        "--help",
        "2.9.1\nx",
    ] {
        let output = plan(&[("TORCH", hostile)]).unwrap_err();
        assert!(
            output.contains("P017 unknown-selection]: no matrix file has torch `"),
            "{hostile}: {output}"
        );
        assert!(!project.has("canary") && !project.has("x"), "{hostile}");
    }
}

#[test]
fn only_the_jobs_with_the_values_that_are_named_are_planned() {
    let project = project("");
    let jobs = |words: &[&str]| {
        let plan = project
            .run(&[&["plan", "--format", "json"], words].concat())
            .exits(0)
            .json();
        plan["jobs"].as_array().unwrap().clone()
    };
    let all = jobs(&[]);
    let axis = |job: &Value, axis: &str| job["axes"][axis].as_str().unwrap().to_owned();
    let mut torches: Vec<String> = all.iter().map(|job| axis(job, "torch")).collect();
    torches.dedup();
    let (one, other) = (
        format!("torch={}", torches[0]),
        format!("torch={}", torches[1]),
    );
    let either = jobs(&["--only", &one, "--only", &other]);
    assert_eq!(
        either.len(),
        jobs(&["--only", &one]).len() + jobs(&["--only", &other]).len()
    );
    let list = format!("torch={},{}", torches[0], torches[1]);
    assert_eq!(jobs(&["--only", &list]), either);
    assert_eq!(
        jobs(&["--only", "torch=", "--only", "gfx="]),
        all,
        "an empty value is any"
    );
    let built = jobs(&["--only", "gfx=gfx942", "--only", "backend=ck"]);
    assert!(!built.is_empty() && built.len() < all.len());
    for job in &built {
        let whole = all.iter().find(|other| other["id"] == job["id"]).unwrap();
        assert_eq!(job, whole, "a choice among jobs changes none of them");
        assert!(axis(job, "backend") == "ck" && job["gfx"].to_string().contains("gfx942"));
    }
    // P017
    let refused = |only: &str| project.run(&["plan", "--only", only]).exits(2).stderr;
    insta::assert_snapshot!(refused("torhc=2.9.1"), @r"
    error[P017 unknown-selection]: no matrix file has an axis `torhc`; did you mean `torch`?
    --> argument `--only torhc=2.9.1`
    help: name one of backend, flash-attn, gfx, python, rocm, torch
    ");
    insta::assert_snapshot!(refused("backend=cuda"), @r"
    error[P017 unknown-selection]: no matrix file has backend `cuda`
    --> argument `--only backend=cuda`
    help: name one of ck, triton
    ");
    for (part, meant) in [("torch=2.5", "2.5.1"), ("python=cp310", "3.10")] {
        let stderr = refused(part);
        let help = format!("help: did you mean `{meant}`?\n");
        assert!(stderr.contains(&help), "{stderr}");
    }
    // A family selects the jobs that build for any of its targets.
    let of_family = jobs(&["--only", "gfx=dcgpu-all", "--only", "backend=ck"]);
    assert_eq!(of_family, jobs(&["--only", "backend=ck"]));
    insta::assert_snapshot!(refused("gfx=gfx115X-all,gfx942"), @r"
    error[P017 unknown-selection]: no job builds for `gfx115X-all`
    --> argument `--only gfx=gfx115X-all,gfx942`
    help: name one of gfx90a, gfx942
    ");
    let stderr = project.run(&["plan", "--only", "torch"]).exits(2).stderr;
    assert!(
        stderr.contains("expected AXIS=VALUES, such as python=3.12"),
        "{stderr}"
    );
}

#[test]
fn only_gives_the_reason_why_no_job_builds_for_a_target() {
    let matrix = "\
version: 1
distribution: flash-attn
recipe: flash-attn
axes:
  flash-attn: [\"2.8.3\"]
  python: [\"3.10\", \"3.11\"]
  torch: [\"2.5.1\"]
  rocm: [\"6.2\"]
gfx: [gfx90a, gfx942, gfx1100]
";
    let project = Project::new().file("m.yaml", matrix);
    let refused = |only: &str| {
        let words = ["plan", "m.yaml", "--explain", "--only", only];
        project.run(&words).exits(2).stderr
    };
    insta::assert_snapshot!(refused("gfx=gfx1100"), @r"
    error[P017 unknown-selection]: no job builds for `gfx1100`
    --> argument `--only gfx=gfx1100`
     = note: 2 jobs without `gfx1100`: flash-attn 2.8.3 (ck) only builds for gfx90a, gfx942, gfx950
    help: name one of gfx90a, gfx942
    ");
    insta::assert_snapshot!(refused("gfx=gfx1101"), @r"
    error[P017 unknown-selection]: no job builds for `gfx1101`
    --> argument `--only gfx=gfx1101`
    help: name one of gfx90a, gfx942
    ");
}

/// ROCm 9.9 is unknown, and CK cannot build for gfx1100.
const JOBS_WITH_ERRORS: &str = "\
version: 1
distribution: flash-attn
recipe: flash-attn
axes:
  flash-attn: [\"2.8.3.post2\"]
  python: [\"3.12\", \"3.13\"]
  torch: [\"2.14.1\", \"2.9.1\"]
  rocm: [\"7.14\", \"6.4\", \"9.9\"]
  backend: [triton, ck]
gfx: [gfx1100]
";

#[test]
fn errors_of_jobs_that_only_excludes_are_counted() {
    let project = Project::new().file("m.yaml", JOBS_WITH_ERRORS);
    let plan = |only: &[&str]| {
        let options = only.iter().flat_map(|value| ["--only", *value]);
        let words: Vec<&str> = ["plan", "m.yaml"].into_iter().chain(options).collect();
        project.run(&words)
    };
    let planned = plan(&["rocm=6.4", "backend=triton"]).exits(0);
    assert_eq!(
        planned.stderr,
        "2 errors of jobs that `--only` excludes are not shown; leave out `--only` to see all\n"
    );
    insta::assert_snapshot!(planned.stdout, @r"
    m.yaml: 1 job selected by --only
      flash_attn-2.8.3.post2+rocm64torch2.9triton-py3-none-any.whl  no device code
      excluded: torch 2.14.1 has wheels for ROCm 7.2 and 7.14, not 6.4 [P001 torch-without-rocm]
    ");
    let codes = |stderr: &str| {
        let errors = stderr
            .lines()
            .filter_map(|line| line.strip_prefix("error["));
        errors.map(|line| line[..4].to_owned()).collect::<Vec<_>>()
    };
    // Errors of selected jobs, and an unknown value of `--only`.
    assert_eq!(
        codes(&plan(&["rocm=9.9"]).exits(1).stderr),
        ["P009", "P009"]
    );
    let no_target = plan(&["rocm=6.4", "backend=ck"]).exits(1).stderr;
    assert_eq!(codes(&no_target), ["P010"]);
    assert_eq!(codes(&plan(&["rocm=9.8"]).exits(2).stderr), ["P017"]);
    // An error of the whole file remains.
    let project = project.file("m.yaml", &JOBS_WITH_ERRORS.replace("ck]", "ckk]"));
    let words = ["plan", "m.yaml", "--only", "backend=triton"];
    let stderr = project.run(&words).exits(1).stderr;
    assert!(stderr.contains("error[P016 unknown-backend]"), "{stderr}");
}

#[test]
fn only_one_of_two_jobs_with_one_wheel_name_can_be_planned() {
    let matrix = JOBS_WITH_ERRORS
        .replace("[\"2.14.1\", \"2.9.1\"]", "[\"2.9.1\"]")
        .replace("[\"7.14\", \"6.4\", \"9.9\"]", "[\"6.4.1\", \"6.4.2\"]")
        .replace("gfx1100", "gfx942");
    let project = Project::new().file("m.yaml", &matrix);
    let stderr = project.run(&["plan", "m.yaml"]).exits(1).stderr;
    assert!(stderr.contains("error[P012 colliding-wheels]"), "{stderr}");
    let words = ["plan", "m.yaml", "--only", "rocm=6.4.1", "--format", "ids"];
    let planned = project.run(&words).exits(0);
    assert_eq!(planned.stdout.lines().count(), 3, "{}", planned.stdout);
}

#[test]
fn the_refresh_example_applies_the_index_and_the_tags() {
    let (project, server) = world(&[]);
    let sha = release(&server, "actions/checkout", "v7.1.0", "node24");
    let link =
        "<a href=\"torch-2.14.1%2Brocm7.99-cp312-cp312-manylinux_2_28_x86_64.whl\">torch</a>\n";
    let project = project.file("whl/rocm7.99/torch/index.html", link);
    // The program of the tests, which finds saved pages and the fake where a real one finds others.
    let program = format!(
        "case \" $* \" in *\" --actions \"*) set -- \"$@\" --api-url {} ;; *) set -- \"${{@/#https:*/whl}}\" ;; esac\nexec \"$ROCK\" \"$@\"",
        server.url()
    );
    let project = tool(project, "rock-matrix", &program);
    let refresh = || {
        run_step(
            &project,
            "refresh-facts.yml",
            "Compare with the index and the tags",
            &[],
        )
    };
    let ran = refresh();
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    let [torch, actions] =
        ["torch", "actions"].map(|table| project.read(&format!("matrices/compat/{table}.yaml")));
    assert!(
        torch.contains("\"7.14\", \"7.99\"]") && actions.contains(&sha),
        "{torch}{actions}"
    );
    assert!(!project.has("torch.patch") && !project.has("actions.patch"));
    let rocm = project.read("matrices/compat/rocm.yaml")
        + "  - {rocm: \"7.99\", origin: {status: verified, source: index, checked: 2026-12-01}}\n";
    std::fs::write(project.path("matrices/compat/rocm.yaml"), rocm).unwrap();
    let ran = refresh();
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    assert_eq!(
        project.read("matrices/compat/actions.yaml"),
        actions,
        "a second run finds nothing newer"
    );
}
