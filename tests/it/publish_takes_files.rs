//! Which files are published: what of a folder is meant, what is known of files, and what GitHub
//! turns away.

use std::os::unix::fs::symlink;
use std::process::Command;

use rock_matrix::github::{GithubError, PublishResult};
use rock_matrix::publish::remote::PublishPolicy;

use crate::publish_waits::{play, request_count};
use crate::support::play::Files;
use crate::support::{Outcome, Project, Wheel};
use fake_github::model::{ApiOperation, FakeGithub, FaultRule, FaultSchedule, GithubSettings};
use fake_github::server::FakeServer;

const CP311: &str = "flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl";
const CP312: &str = "flash_attn-2.8.3+rocm62torch2.5-cp312-cp312-linux_x86_64.whl";

fn project(wheels: &[&str]) -> Project {
    let project = Project::new().env("GITHUB_TOKEN", "writer");
    wheels.iter().fold(project, |project, name| {
        project.bytes(&format!("dist/{name}"), &Wheel::named(name).bytes())
    })
}

fn server(settings: GithubSettings, rules: &[&str]) -> FakeServer {
    let server = FakeServer::start(FakeGithub::new(settings));
    for rule in rules {
        server
            .github()
            .faults
            .add(rule.parse::<FaultRule>().unwrap());
    }
    server
}

fn publish(project: &Project, server: &FakeServer, more: &[&str], exit: i32) -> Outcome {
    let url = server.url();
    let words = [
        "publish",
        "--repo",
        "me/wheels",
        "--tag",
        "v1",
        "--api-url",
        &url,
    ];
    project.run(&[&words[..], more].concat()).exits(exit)
}

/// The command that goes on.
fn resume(text: &str) -> String {
    let line = text
        .lines()
        .map(str::trim)
        .find(|line| line.starts_with("rock-matrix publish "));
    line.unwrap_or_else(|| panic!("{text}")).to_owned()
}

fn codes(text: &str) -> Vec<&str> {
    text.lines()
        .filter_map(|line| line.split_once('[')?.1.split_once(' ')?.0.get(..4))
        .collect()
}

#[test]
fn a_wrong_recorded_digest_is_reported_with_its_source() {
    for (path, more) in [
        ("lie.txt", &["--known", "lie.txt"][..]),
        ("dist/rock-manifest.json", &[]),
    ] {
        let project = project(&[CP311, CP312]);
        project
            .run(&["publish", "--to", "release", "dist"])
            .exits(0);
        let digest = |line: &str| {
            line.split_once("  ")
                .filter(|(_, name)| *name == CP311)
                .map(|(digest, _)| digest.to_owned())
        };
        let sums = std::fs::read_to_string(project.path("release/SHA256SUMS")).unwrap();
        let (right, wrong) = (sums.lines().find_map(digest).unwrap(), "0".repeat(64));
        let source = if path == "lie.txt" {
            "release/SHA256SUMS"
        } else {
            "release/rock-manifest.json"
        };
        let content = std::fs::read_to_string(project.path(source))
            .unwrap()
            .replace(&right, &wrong);
        let project = project.file(path, &content);
        let server = server(GithubSettings::default(), &[]);
        let outcome = publish(&project, &server, &[&["--dist", "dist"], more].concat(), 3);
        let output = format!("{}{}", outcome.stdout, outcome.stderr);
        assert!(
            output.contains(&format!(
                "error[G022 known-digest-is-wrong]: the digest of `{CP311}` does not match `{path}`"
            )),
            "{output}"
        );
        assert!(
            output.contains(&wrong) && output.contains(&right) && !output.contains("G109"),
            "{output}"
        );
        let sent = &server.github().ledger.requests.clone();
        assert!(
            sent.iter()
                .all(|one| !one.url.contains("SHA256SUMS") && !one.url.contains("rock-manifest")),
            "{output}"
        );
        let resume = resume(&output);
        assert!(resume.ends_with(" --read-all"), "{resume}");
        let words = shlex::split(&resume).unwrap();
        project
            .run(&words[1..].iter().map(String::as_str).collect::<Vec<_>>())
            .exits(0);
    }
}

/// The sums are sent when all they tell of is there.
#[test]
fn sums_and_manifest_are_sent_after_every_wheel_arrived() {
    for rule in ["upload#1=wrong-digest", "upload#2=short"] {
        let server = server(GithubSettings::default(), &[rule]);
        publish(
            &project(&[CP311, CP312]),
            &server,
            &["--dist", "dist", "--at-once", "4"],
            3,
        );
        assert_eq!(
            server.github().ledger.request_count(ApiOperation::Upload),
            2,
            "{rule}"
        );
    }
}

#[test]
fn a_refusal_of_all_files_is_reported_once_and_ends_uploads() {
    for rule in ["upload=echo-token:422", "upload=tag-ruleset:422"] {
        let play = play(GithubSettings::default(), &[rule]);
        let files = Files {
            at_once: 1,
            ..Files::of(40, 1)
        };
        let end = play.publish(&files, &files.desired_release(1), PublishPolicy::default());
        assert!(
            matches!(
                end,
                PublishResult::Failed(GithubError::Status { status: 422, .. })
            ),
            "{rule}: {end:?}"
        );
        assert_eq!(request_count(&play, ApiOperation::Upload), 1, "{rule}");
    }
    let server = server(
        GithubSettings {
            assets_per_release: 1,
            ..GithubSettings::default()
        },
        &[],
    );
    let stderr = publish(
        &project(&[CP311, CP312]),
        &server,
        &["--dist", "dist", "--at-once", "1"],
        3,
    )
    .stderr;
    assert_eq!(codes(&stderr), ["G120"], "{stderr}");
    assert!(stderr.contains("publish fewer files"), "{stderr}");
    let ruled = self::server(
        GithubSettings::default(),
        &["create-release=tag-ruleset:422"],
    );
    let stderr = publish(&project(&[CP311]), &ruled, &["--dist", "dist"], 1).stderr;
    assert!(
        stderr.contains("a ruleset of the repository forbids it"),
        "{stderr}"
    );
}

/// A name that GitHub does not take is the fault of that file alone.
#[test]
fn a_refusal_that_names_the_file_leaves_the_others_alone() {
    let play = play(
        GithubSettings {
            asset_bytes: 8,
            ..GithubSettings::default()
        },
        &[],
    );
    let files = Files {
        at_once: 1,
        ..Files::of(3, 1)
    };
    let run = play
        .run(&files, &files.desired_release(1), PublishPolicy::default())
        .unwrap();
    assert_eq!(run.end, PublishResult::Incomplete);
    assert_eq!(run.failed_files.len(), 3, "{:?}", run.failed_files);
}

#[test]
fn what_is_called_like_a_wheel_and_is_no_file_is_a_fault_each() {
    let (project, server) = (project(&[CP311]), server(GithubSettings::default(), &[]));
    let dangling = project.path("dist/flash_attn-9-py3-none-any.whl");
    symlink("nowhere", &dangling).unwrap();
    let pipe = project.path("dist/x-1.tar.gz");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let device = project.path("dist/y-1.tar.gz");
    symlink("/dev/null", &device).unwrap();
    let stderr = publish(&project, &server, &["--dist", "dist"], 1).stderr;
    for what in [
        "9-py3-none-any.whl` is a link that leads nowhere",
        "x-1.tar.gz` is a pipe",
        "y-1.tar.gz` is a device",
    ] {
        assert!(stderr.contains(what), "{what}: {stderr}");
    }
    assert_eq!(
        (codes(&stderr), server.github().ledger.requests.len()),
        (vec!["H020"; 3], 0),
        "{stderr}"
    );
    project
        .run(&["publish", "--to", "release", "dist"])
        .exits(1);
    for path in [dangling, pipe, device] {
        std::fs::remove_file(path).unwrap();
    }
    publish(&project, &server, &["--dist", "dist"], 0);
}

#[test]
fn wheels_in_subfolders_are_named_and_left_out() {
    let project = project(&[CP311]).bytes(
        &format!("dist/wheel-a/{CP312}"),
        &Wheel::named(CP312).bytes(),
    );
    let project = project.file("dist/notes/read.me", "");
    let stderr = project
        .run(&["publish", "--to", "release", "dist"])
        .exits(0)
        .stderr;
    assert!(
        stderr.contains("warning[G021 wheels-in-subfolders]") && stderr.contains("`dist/wheel-a`"),
        "{stderr}"
    );
    assert!(
        stderr.contains("merge-multiple") && !stderr.contains("notes"),
        "{stderr}"
    );
    let outcome = project
        .run(&["publish", "--to", "release", "dist", "dist/wheel-a"])
        .exits(0);
    assert!(
        !outcome.stderr.contains("G021") && outcome.stdout.contains(CP312),
        "{}",
        outcome.stderr
    );
    let none = self::project(&[]).bytes(
        &format!("dist/wheel-a/{CP312}"),
        &Wheel::named(CP312).bytes(),
    );
    let stderr = none
        .run(&["publish", "--to", "release", "dist"])
        .exits(1)
        .stderr;
    assert!(
        stderr.contains("G008") && stderr.contains("G021"),
        "{stderr}"
    );
}

#[test]
fn all_faults_of_a_file_are_reported_in_one_run() {
    let upper = "flash_attn-2.8.3+ROCm62-cp310-cp310-linux_x86_64.whl";
    let project = project(&[]).bytes(&format!("dist/{upper}"), &Wheel::named(CP311).bytes());
    let project = project
        .file("dist/empty-1.tar.gz", "")
        .file("dist/EMPTY-1.tar.gz", "x");
    let stderr = publish(
        &project,
        &server(GithubSettings::default(), &[]),
        &["--dist", "dist"],
        1,
    )
    .stderr;
    for code in ["G123", "G112", "G014"] {
        assert!(codes(&stderr).contains(&code), "{code}: {stderr}");
    }
    assert!(
        codes(&stderr).iter().any(|code| code.starts_with('W')),
        "its METADATA is of another: {stderr}"
    );
}

#[test]
fn the_resume_command_is_one_line_for_all_names_and_titles() {
    let server = server(GithubSettings::default(), &["upload#1=no-right"]);
    let folder = "a\nb \u{1b}[31m'";
    let project = Project::new().env("GITHUB_TOKEN", "writer");
    let project = project.bytes(&format!("{folder}/{CP311}"), &Wheel::named(CP311).bytes());
    let outcome = publish(
        &project,
        &server,
        &["--dist", folder, "--title", "It's\n\u{1b}[1mnew\\"],
        3,
    );
    assert!(
        !outcome.stdout.contains('\u{1b}') && !outcome.stderr.contains('\u{1b}'),
        "{outcome:?}"
    );
    let resume = resume(&outcome.stdout);
    server.github().faults = FaultSchedule::none();
    // As a person runs it.
    let script = format!("rock-matrix() {{ \"$PROGRAM\" \"$@\"; }}\n{resume}");
    let program = project.command(&[]);
    let mut shell = Command::new("bash");
    shell
        .arg("-c")
        .arg(script)
        .env("PROGRAM", program.get_program())
        .env("GITHUB_TOKEN", "writer");
    let done = shell.current_dir(project.path("")).output().unwrap();
    assert!(
        done.status.success(),
        "{resume}\n{}",
        String::from_utf8_lossy(&done.stderr)
    );
    let release = server
        .github()
        .repository("me/wheels")
        .releases
        .values()
        .next()
        .unwrap()
        .clone();
    assert_eq!(
        (release.draft, release.name.as_deref()),
        (false, Some("It's\n\u{1b}[1mnew\\"))
    );
    let stdout = project
        .run(&["publish", "--to", "x\ny", folder])
        .exits(0)
        .stdout;
    assert!(stdout.starts_with("published to x\\ny:\n"), "{stdout}");
}
