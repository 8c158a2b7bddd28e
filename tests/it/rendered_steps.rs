//! What steps of rendered workflows do, run as a runner runs them, with programs that only note
//! what they are asked.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::support::Project;

/// The workflow of one Triton wheel, with whatever fields a story adds.
fn workflow(fields: &str) -> Value {
    let matrix = format!(
        "version: 1\ndistribution: flash-attn\nrecipe: flash-attn\naxes:\n  flash-attn: [\"2.7.4.post1\"]\n  python: [\"3.11\"]\n  \
         torch: [\"2.5.1\"]\n  rocm: [\"6.2\"]\n  backend: [triton]\n{fields}"
    );
    let text = Project::new()
        .file("matrices/m.yaml", &matrix)
        .run(&["render", "workflow"])
        .exits(0)
        .stdout;
    serde_yaml::from_str(&text).unwrap()
}

fn step<'w>(workflow: &'w Value, job: &str, name: &str) -> Option<(usize, &'w Value)> {
    let steps = workflow["jobs"][job]["steps"].as_array().unwrap();
    steps
        .iter()
        .enumerate()
        .find(|(_, step)| step["name"] == name)
}

/// A folder with these programs, each a script of bash.
fn with_tools(tools: &[(&str, &str)]) -> Project {
    let project = Project::new().file("checkout/readme.md", "wheels\n");
    tools.iter().fold(project, |project, (name, script)| {
        let project = project.file(
            &format!("tools/{name}"),
            &format!("#!/bin/bash\n{script}\n"),
        );
        std::fs::set_permissions(
            project.path(&format!("tools/{name}")),
            PermissionsExt::from_mode(0o755),
        )
        .unwrap();
        project
    })
}

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
        .current_dir(project.path("checkout"))
        .env("PATH", path)
        .env("CALLS", project.path("calls"))
        .env("GITHUB_REPOSITORY", "me/wheels")
        .envs(variables.iter().copied())
        .output()
        .unwrap()
}

/// A tag that cannot be published ends the run before anything is built.
#[test]
fn the_plan_of_a_tag_checks_what_publishing_needs() {
    for (fields, attest) in [
        ("", "auto"),
        ("release: {attest: on}\n", "on"),
        ("release: {attest: off}\n", "off"),
    ] {
        let workflow = workflow(fields);
        let (at, check) = step(&workflow, "plan", "Check what publishing needs").unwrap();
        assert!(
            step(&workflow, "plan", "Plan").unwrap().0 < at
                && at < step(&workflow, "plan", "Keep the plan").unwrap().0
        );
        assert_eq!(check["if"], "startsWith(github.ref, 'refs/tags/')");
        assert_eq!(
            workflow["jobs"]["plan"]["permissions"],
            json!({"actions": "read", "contents": "read"})
        );
        let words = shlex::split(
            &check["run"]
                .as_str()
                .unwrap()
                .replace("$GITHUB_REPOSITORY", "me/wheels"),
        )
        .unwrap();
        let matches = rock_matrix::cli::command()
            .try_get_matches_from(words)
            .unwrap();
        let (_, release) = matches.subcommand().unwrap();
        let (name, preflight) = release.subcommand().unwrap();
        let value = |name: &str| preflight.get_one::<String>(name).unwrap().as_str();
        assert_eq!(
            (name, value("attest"), value("environment")),
            ("preflight", attest, "release")
        );
        assert!(preflight.get_flag("read_only"));
    }
}

#[test]
fn an_enterprise_server_ends_the_plan_with_a_reason() {
    let workflow = workflow("");
    let (at, refuse) = step(&workflow, "plan", "Refuse an Enterprise Server").unwrap();
    assert_eq!(at, 0);
    let ran = |server: &str| run(&with_tools(&[]), refuse, &[("GITHUB_SERVER_URL", server)]);
    for server in ["https://github.com", "https://octo.ghe.com"] {
        assert!(ran(server).status.success(), "{server}");
    }
    for server in [
        "https://github.example.com",
        "https://github.com.example.com",
        "https://ghe.com",
    ] {
        let ran = ran(server);
        let stdout = String::from_utf8(ran.stdout).unwrap();
        let expected =
            format!("::error title=G361 enterprise-server::{server} is a GitHub Enterprise Server");
        assert!(
            !ran.status.success() && stdout.starts_with(&expected),
            "{stdout}"
        );
    }
}

/// A private repository without Enterprise Cloud has no attestations, and could never publish.
#[test]
fn files_are_attested_if_the_matrix_file_requests_it() {
    let published = |fields: &str| {
        let workflow = workflow(fields);
        let rights: Vec<String> = workflow["jobs"]["publish"]["permissions"]
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect();
        let attest = step(&workflow, "publish", "Attest").map(|(_, step)| step["if"].clone());
        let text = workflow["jobs"]["publish"].to_string();
        (rights, attest, text.contains("subjects.txt"))
    };
    let signing = ["contents", "id-token", "attestations"]
        .map(str::to_owned)
        .to_vec();
    let unless_private = Value::from("github.event.repository.visibility != 'private'");
    assert_eq!(published(""), (signing.clone(), Some(unless_private), true));
    assert_eq!(
        published("release: {attest: on}\n"),
        (signing, Some(Value::Null), true)
    );
    assert_eq!(
        published("release: {attest: off}\n"),
        (vec!["contents".to_owned()], None, false)
    );
}

/// Notes say how to verify attestations exactly where the step before the publish makes some.
#[test]
fn notes_follow_the_attestations_of_the_workflow() {
    let noted = |fields: &str| {
        let workflow = workflow(fields);
        let (_, notes) = step(&workflow, "publish", "Write notes").unwrap();
        let (_, options) = notes["run"].as_str().unwrap().split_once("\\\n").unwrap();
        let options = options.lines().next().unwrap();
        (options.trim().to_owned(), notes["env"]["ATTEST"].clone())
    };
    let options =
        |when: &str| format!("--repo \"$GITHUB_REPOSITORY\" --attest {when} --out notes.md");
    let visible =
        Value::from("${{ github.event.repository.visibility == 'private' && 'off' || 'on' }}");
    assert_eq!(noted(""), (options("\"$ATTEST\""), visible));
    assert_eq!(
        noted("release: {attest: on}\n"),
        (options("on"), Value::Null)
    );
    assert_eq!(
        noted("release: {attest: off}\n"),
        (options("off"), Value::Null)
    );
}

/// Containers write as root, so that the checkout of the next leg could not remove what one left.
#[test]
fn leftovers_of_a_killed_leg_are_removed_before_the_checkout() {
    let workflow = workflow("runner: self-hosted\ntest: {runner: mi300x}\n");
    for job in ["build", "gpu-test"] {
        let (clean, step_of_it) = step(&workflow, job, "Remove what a killed leg left").unwrap();
        assert!(
            clean < step(&workflow, job, "Check out").unwrap().0,
            "{job}"
        );
        assert_eq!(step_of_it["if"], "runner.environment == 'self-hosted'");
    }
    let (_, clean) = step(&workflow, "build", "Remove what a killed leg left").unwrap();
    let docker = "echo \"$*\" >>\"$CALLS\"\ncase $1 in ps) echo c1 ;; image) echo i1 ;; run) /bin/rm -rf .rock ;; esac";
    // This user may remove nothing, and has no sudo that asks nothing.
    let refusing = [("docker", docker), ("rm", "exit 1"), ("sudo", "exit 1")];
    let project = with_tools(&refusing).file("checkout/.rock/job/build.json", "{}");
    assert!(run(&project, clean, &[]).status.success());
    let calls = project
        .read("calls")
        .replace(project.path("checkout").to_str().unwrap(), "[HERE]");
    insta::assert_snapshot!(calls, @r"
    ps --all --quiet --filter volume=[HERE]/.rock/job
    rm --force c1
    image ls --quiet
    run --rm --network=none --volume=[HERE]:/checkout --entrypoint=rm i1 -rf /checkout/.rock
    ");
    assert!(!project.has("checkout/.rock"));
    // Where nothing helps, the reason is given instead of a checkout that fails.
    let useless = [("docker", "exit 1"), ("rm", "exit 1"), ("sudo", "exit 1")];
    let project = with_tools(&useless).file("checkout/.rock/job/build.json", "{}");
    let ran = run(&project, clean, &[]);
    assert!(!ran.status.success() && String::from_utf8(ran.stdout).unwrap().contains("::error::"));
    // A runner without leftovers starts no container.
    let project = with_tools(&refusing);
    assert!(run(&project, clean, &[]).status.success() && !project.has("calls"));
}

/// GitHub deletes what was used least lately, of whatever leg.
#[test]
fn older_caches_of_a_leg_are_deleted_and_the_newest_stays() {
    assert!(workflow("")["jobs"]["caches"].is_null());
    let workflow = workflow("workflow: {cache: on}\n");
    let caches = &workflow["jobs"]["caches"];
    assert_eq!(caches["permissions"], json!({"actions": "write"}));
    let gh = "echo \"$*\" >>\"$CALLS\"\n\
              case \"$*\" in *list*) printf '%s\\n' '9 rock-ccache-a-py3.11-0f-77-3' '8 rock-ccache-b-py3.11-0f-77-2' \
              '7 rock-ccache-a-py3.11-0f-77-2' '6 rock-ccache-a-py3.11-0f-55-1' '5 rock-ccache-a-py3.12-0f-77-1' ;; esac";
    let project = with_tools(&[("gh", gh)]);
    let ran = run(&project, &caches["steps"][0], &[]);
    assert!(ran.status.success(), "{ran:?}");
    let calls = project.read("calls");
    let deleted: Vec<&str> = calls
        .lines()
        .filter(|line| line.starts_with("cache delete"))
        .collect();
    assert_eq!(
        deleted,
        [
            "cache delete 7 --repo me/wheels",
            "cache delete 6 --repo me/wheels"
        ]
    );
}
