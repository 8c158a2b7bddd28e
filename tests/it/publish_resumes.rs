//! A publish that fails because of one upload, is stopped in the next run, and is completed by a
//! third one.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Stdio;

use regex::Regex;
use rock_matrix::names::percent_encode;
use rustix::process::{Pid, Signal, kill_process};

use crate::support::{Outcome, Project, Wheel};
use fake_github::model::{ApiOperation, FakeGithub, FaultRule, FaultSchedule, GithubSettings};
use fake_github::server::FakeServer;

const WHEELS: [&str; 5] = [
    "flash_attn-2.8.3+rocm62torch2.5-cp310-cp310-linux_x86_64.whl",
    "flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl",
    "flash_attn-2.8.3+rocm62torch2.5-cp312-cp312-linux_x86_64.whl",
    "flash_attn-2.8.3+rocm62torch2.5-cp313-cp313-linux_x86_64.whl",
    "flash_attn-2.8.3+rocm62torch2.5-cp314-cp314-linux_x86_64.whl",
];
const DOCUMENTS: [&str; 2] = ["SHA256SUMS", "rock-manifest.json"];
/// The file whose uploads fail.
const THIRD: &str = WHEELS[2];

/// Replaces the faults of the server, and clears its log.
fn prepare(server: &FakeServer, rules: &[String]) {
    let rules = rules.iter().map(|rule| rule.parse::<FaultRule>().unwrap());
    let faults = FaultSchedule::by_rule(rules);
    let mut github = server.github();
    github.faults = faults;
    github.ledger.clear();
}

/// The number of uploads of each wheel, then of each document.
fn uploads(server: &FakeServer) -> Vec<usize> {
    let github = server.github();
    let count = |name: &&str| {
        let end = format!("?name={}", percent_encode(name));
        github
            .ledger
            .requests
            .iter()
            .filter(|request| {
                request.operation == ApiOperation::Upload && request.url.ends_with(&end)
            })
            .count()
    };
    WHEELS.iter().chain(&DOCUMENTS).map(count).collect()
}

/// Both outputs of a run, without what differs from run to run: the address of the server, the
/// durations of waits, and the waits between two writes, which are not needed after a longer one.
fn shown(server: &FakeServer, outcome: &Outcome) -> String {
    let wait = Regex::new(r"\b(attempt \d of 6|continuing) in \d+ s").unwrap();
    let stderr: String = outcome
        .stderr
        .lines()
        .filter(|line| !line.contains("GitHub limits the rate of requests"))
        .map(|line| format!("{}\n", wait.replace(line, "$1 in [N] s")))
        .collect();
    format!(
        "--- stdout\n{}--- stderr\n{stderr}",
        outcome.stdout.replace(&server.url(), "[API]")
    )
    .replace(&server.url(), "[API]")
}

/// Runs the command and stops it during its first wait that is reported, which lasts two seconds or
/// more. Returns `None` if the attempts are over before.
fn stopped_during_a_wait(project: &Project, words: &[&str]) -> Option<Outcome> {
    let mut child = project
        .command(words)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut reader = BufReader::new(child.stderr.take().unwrap());
    let (mut stderr, mut is_stopped) = (String::new(), false);
    loop {
        let begun = stderr.len();
        if reader.read_line(&mut stderr).unwrap() == 0 {
            break;
        }
        if !is_stopped && stderr[begun..].contains("; attempt ") {
            let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
            kill_process(pid, Signal::TERM).unwrap();
            is_stopped = true;
        }
    }
    let mut stdout = Vec::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_end(&mut stdout)
        .unwrap();
    let exit = child.wait().unwrap().code();
    if !is_stopped {
        assert_eq!(exit, Some(3), "{stderr}");
        return None;
    }
    assert_eq!(exit, Some(143), "{stderr}");
    // The number of the attempt depends on the durations of the earlier waits.
    let attempt = Regex::new(r"; attempt \d of 6 in").unwrap();
    let stderr = attempt.replace(&stderr, "; attempt 2 of 6 in");
    Some(Outcome {
        stdout: project.shown(stdout),
        stderr: project.shown(stderr.into_owned().into_bytes()),
    })
}

#[test]
fn later_runs_upload_only_files_whose_upload_failed() {
    let project = Project::new().env("GITHUB_TOKEN", "writer");
    let project = WHEELS.iter().fold(project, |project, name| {
        project.bytes(&format!("dist/{name}"), &Wheel::named(name).bytes())
    });
    let server = FakeServer::start(FakeGithub::new(GithubSettings::default()));
    let url = server.url();
    let words = [
        "publish",
        "dist",
        "--repo",
        "me/wheels",
        "--tag",
        "v1",
        "--api-url",
        &url,
        "--jobs",
        "1",
    ];
    let upload = format!("/assets?name={THIRD}: ");
    let states = |outcome: &Outcome| {
        let state = |name: &&str| {
            let line = outcome.stdout.lines().find(|line| line.starts_with(name));
            let state = line.and_then(|line| line.split_once("  "));
            state.map(|(_, state)| state.trim().to_owned())
        };
        WHEELS.iter().filter_map(state).collect::<Vec<_>>()
    };

    // GitHub answers each upload of the third wheel with 502. After the first one, the fourth and
    // the fifth wheel are uploaded.
    let rules: Vec<String> = [3, 6, 7, 8, 9, 10]
        .map(|number| format!("upload#{number}=502"))
        .to_vec();
    prepare(&server, &rules);
    let failed = project.run(&[&words[..], &["-v"]].concat()).exits(3);
    assert_eq!(uploads(&server), [1, 1, 6, 1, 1, 0, 0]);
    for attempt in 2..=6 {
        let line = failed.stderr.lines().find(|line| {
            line.contains(&upload) && line.contains(&format!("; attempt {attempt} of 6 in "))
        });
        assert!(
            line.is_some_and(|line| line.contains(": 502 ")),
            "{attempt}: {}",
            failed.stderr
        );
    }
    assert!(
        failed.stderr.contains(&format!(
            "{upload}the outcome of the request is unknown: 502"
        )),
        "{}",
        failed.stderr
    );
    assert!(
        failed.stderr.contains("request ID 0400:F4CE:"),
        "{}",
        failed.stderr
    );
    assert_eq!(
        states(&failed),
        [
            "uploaded",
            "uploaded",
            "interrupted",
            "uploaded",
            "uploaded"
        ],
        "the releases are listed after the last attempt"
    );
    insta::assert_snapshot!(shown(&server, &failed));

    // The second run is stopped while it waits after such a response.
    prepare(&server, &["upload=502".to_owned()]);
    let stopped = (0..5)
        .find_map(|_| stopped_during_a_wait(&project, &words))
        .expect("one of the waits lasts two seconds");
    let counts = uploads(&server);
    assert!(
        counts[2] > 0 && counts.iter().sum::<usize>() == counts[2],
        "{counts:?}"
    );
    assert!(
        stopped
            .stderr
            .contains(&format!("{upload}the run was stopped during a wait: 502")),
        "{}",
        stopped.stderr
    );
    assert_eq!(
        states(&stopped),
        ["uploaded", "uploaded", "unknown", "uploaded", "uploaded"]
    );
    insta::assert_snapshot!(without_request_id(&shown(&server, &stopped)));

    // The third run uploads what is missing.
    prepare(&server, &[]);
    let done = project.run(&words).exits(0);
    assert_eq!(uploads(&server), [0, 0, 1, 0, 0, 1, 1]);
    insta::assert_snapshot!(shown(&server, &done));

    let github = server.github();
    let releases = &github.repository("me/wheels").releases;
    let [release] = &releases.values().collect::<Vec<_>>()[..] else {
        panic!("{} releases", releases.len())
    };
    assert!(!release.draft);
    let mut names: Vec<&str> = release
        .assets
        .iter()
        .map(|asset| asset.name.as_str())
        .collect();
    names.sort_unstable();
    let mut expected = [&WHEELS[..], &DOCUMENTS[..]].concat();
    expected.sort_unstable();
    assert_eq!(names, expected);
    assert!(release.assets.iter().all(|asset| asset.is_uploaded));
}

/// The number of the request depends on the number of attempts.
fn without_request_id(text: &str) -> String {
    let id = Regex::new("0400:F4CE:[0-9A-F]+:2:3").unwrap();
    id.replace_all(text, "[ID]").into_owned()
}
