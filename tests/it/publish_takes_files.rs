//! Which files are published: what of a folder is meant, what is known of files, and what GitHub
//! turns away.

use std::os::unix::fs::symlink;
use std::process::Command;

use rock_matrix::github::{GithubError, PublishResult};
use rock_matrix::publish::remote::PublishPolicy;

use crate::publish_waits::{asked, play};
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
fn resume(told: &str) -> String {
    let line = told
        .lines()
        .map(str::trim)
        .find(|line| line.starts_with("rock-matrix publish "));
    line.unwrap_or_else(|| panic!("{told}")).to_owned()
}

fn codes(told: &str) -> Vec<&str> {
    told.lines()
        .filter_map(|line| line.split_once('[')?.1.split_once(' ')?.0.get(..4))
        .collect()
}

#[test]
fn a_digest_that_was_told_wrongly_is_blamed_on_who_told_it_and_the_next_run_reads_the_file() {
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
        let told = if path == "lie.txt" {
            "release/SHA256SUMS"
        } else {
            "release/rock-manifest.json"
        };
        let told = std::fs::read_to_string(project.path(told))
            .unwrap()
            .replace(&right, &wrong);
        let project = project.file(path, &told);
        let server = server(GithubSettings::default(), &[]);
        let outcome = publish(&project, &server, &[&["--dist", "dist"], more].concat(), 3);
        let told = format!("{}{}", outcome.stdout, outcome.stderr);
        assert!(
            told.contains(&format!(
                "error[G022 known-digest-is-wrong]: the digest of `{CP311}` does not match `{path}`"
            )),
            "{told}"
        );
        assert!(
            told.contains(&wrong) && told.contains(&right) && !told.contains("G109"),
            "{told}"
        );
        let sent = &server.github().ledger.requests.clone();
        assert!(
            sent.iter()
                .all(|one| !one.url.contains("SHA256SUMS") && !one.url.contains("rock-manifest")),
            "{told}"
        );
        let resume = resume(&told);
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
            server.github().ledger.asked(ApiOperation::Upload),
            2,
            "{rule}"
        );
    }
}

#[test]
fn a_refusal_that_holds_for_all_files_is_told_once_and_no_other_is_sent() {
    for rule in ["upload=echo-token:422", "upload=tag-ruleset:422"] {
        let play = play(GithubSettings::default(), &[rule]);
        let files = Files {
            at_once: 1,
            ..Files::of(40, 1)
        };
        let end = play.publish(&files, &files.goal(1), PublishPolicy::default());
        assert!(
            matches!(
                end,
                PublishResult::Failed(GithubError::Status { status: 422, .. })
            ),
            "{rule}: {end:?}"
        );
        assert_eq!(asked(&play, ApiOperation::Upload), 1, "{rule}");
    }
    let server = server(
        GithubSettings {
            assets_per_release: 1,
            ..GithubSettings::default()
        },
        &[],
    );
    let told = publish(
        &project(&[CP311, CP312]),
        &server,
        &["--dist", "dist", "--at-once", "1"],
        3,
    )
    .stderr;
    assert_eq!(codes(&told), ["G120"], "{told}");
    assert!(told.contains("publish fewer files"), "{told}");
    let ruled = self::server(
        GithubSettings::default(),
        &["create-release=tag-ruleset:422"],
    );
    let told = publish(&project(&[CP311]), &ruled, &["--dist", "dist"], 1).stderr;
    assert!(
        told.contains("a ruleset of the repository forbids it"),
        "{told}"
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
    let end = play.publish(&files, &files.goal(1), PublishPolicy::default());
    let PublishResult::Incomplete(faults) = end else {
        panic!("{end:?}")
    };
    assert_eq!(faults.len(), 3, "{faults:?}");
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
    let told = publish(&project, &server, &["--dist", "dist"], 1).stderr;
    for what in [
        "9-py3-none-any.whl` is a link that leads nowhere",
        "x-1.tar.gz` is a pipe",
        "y-1.tar.gz` is a device",
    ] {
        assert!(told.contains(what), "{what}: {told}");
    }
    assert_eq!(
        (codes(&told), server.github().ledger.requests.len()),
        (vec!["H020"; 3], 0),
        "{told}"
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
    let told = project
        .run(&["publish", "--to", "release", "dist"])
        .exits(0)
        .stderr;
    assert!(
        told.contains("warning[G021 wheels-in-subfolders]") && told.contains("`dist/wheel-a`"),
        "{told}"
    );
    assert!(
        told.contains("merge-multiple") && !told.contains("notes"),
        "{told}"
    );
    let told = project
        .run(&["publish", "--to", "release", "dist", "dist/wheel-a"])
        .exits(0);
    assert!(
        !told.stderr.contains("G021") && told.stdout.contains(CP312),
        "{}",
        told.stderr
    );
    let none = self::project(&[]).bytes(
        &format!("dist/wheel-a/{CP312}"),
        &Wheel::named(CP312).bytes(),
    );
    let told = none
        .run(&["publish", "--to", "release", "dist"])
        .exits(1)
        .stderr;
    assert!(told.contains("G008") && told.contains("G021"), "{told}");
}

#[test]
fn a_file_with_one_fault_is_told_its_others_in_the_same_run() {
    let upper = "flash_attn-2.8.3+ROCm62-cp310-cp310-linux_x86_64.whl";
    let project = project(&[]).bytes(&format!("dist/{upper}"), &Wheel::named(CP311).bytes());
    let project = project
        .file("dist/empty-1.tar.gz", "")
        .file("dist/EMPTY-1.tar.gz", "x");
    let told = publish(
        &project,
        &server(GithubSettings::default(), &[]),
        &["--dist", "dist"],
        1,
    )
    .stderr;
    for code in ["G123", "G112", "G014"] {
        assert!(codes(&told).contains(&code), "{code}: {told}");
    }
    assert!(
        codes(&told).iter().any(|code| code.starts_with('W')),
        "its METADATA is of another: {told}"
    );
}

#[test]
fn the_command_that_goes_on_is_one_line_whatever_is_in_names_and_titles() {
    let server = server(GithubSettings::default(), &["upload#1=no-right"]);
    let folder = "a\nb \u{1b}[31m'";
    let project = Project::new().env("GITHUB_TOKEN", "writer");
    let project = project.bytes(&format!("{folder}/{CP311}"), &Wheel::named(CP311).bytes());
    let told = publish(
        &project,
        &server,
        &["--dist", folder, "--title", "It's\n\u{1b}[1mnew\\"],
        3,
    );
    assert!(
        !told.stdout.contains('\u{1b}') && !told.stderr.contains('\u{1b}'),
        "{told:?}"
    );
    let resume = resume(&told.stdout);
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
    let told = project
        .run(&["publish", "--to", "x\ny", folder])
        .exits(0)
        .stdout;
    assert!(told.starts_with("published to x\\ny:\n"), "{told}");
}
