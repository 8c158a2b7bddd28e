//! A publish that ends while a call is under way: what that call did is not known, and nothing else
//! is said of it.

use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rock_matrix::github::{GithubError, PublishResult, PublishRun};
use rock_matrix::publish::remote::{PublishPolicy, PublishStep};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::publish_waits::play;
use crate::support::play::Files;
use crate::support::{Project, Wheel};
use fake_github::model::{FakeGithub, FaultRule, GithubSettings, ReachedState};
use fake_github::server::FakeServer;

const WHEEL: &str = "flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl";

/// A signal when the server did what was asked and says nothing: what is printed.
fn stopped(rule: &str, reached: ReachedState, format: &str) -> String {
    let project = Project::new().env("GITHUB_TOKEN", "writer");
    let project = project.bytes(&format!("dist/{WHEEL}"), &Wheel::named(WHEEL).bytes());
    let server = FakeServer::start(FakeGithub::new(GithubSettings::default()));
    server
        .github()
        .faults
        .add(rule.parse::<FaultRule>().unwrap());
    let url = server.url();
    let words = [
        "publish",
        "--dist",
        "dist",
        "--repo",
        "me/wheels",
        "--tag",
        "v1",
        "--api-url",
        &url,
    ];
    let mut command =
        project.command(&[&words[..], &["--at-once", "1", "--format", format]].concat());
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let end = Instant::now() + Duration::from_mins(1);
    while server.github().ledger.times(reached) == 0 {
        assert!(Instant::now() < end, "{rule} is never reached");
        std::thread::sleep(Duration::from_millis(20));
    }
    kill_process(
        Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap(),
        Signal::TERM,
    )
    .unwrap();
    let done = child.wait_with_output().unwrap();
    assert_eq!(
        done.status.code(),
        Some(143),
        "{rule}: {}",
        String::from_utf8_lossy(&done.stderr)
    );
    String::from_utf8(done.stdout).unwrap()
}

#[test]
fn steps_under_way_at_a_signal_are_reported_as_unknown() {
    let wheel = |summary: &Value| summary["assets"][0]["state"].clone();
    std::thread::scope(|scope| {
        for (rule, reached, human, states) in [
            (
                "edit-release#1=stall:0",
                ReachedState::Published,
                "it is unknown whether the release v1 is public: the request that publishes it was in progress; resume with:",
                json!([null, null, "uploaded"]),
            ),
            (
                "create-release#1=stall:0",
                ReachedState::DraftMade,
                "it is unknown whether the release v1 exists: the request that creates it was in progress; resume with:",
                json!([false, false, "missing"]),
            ),
            (
                "upload#1=stall:0",
                ReachedState::Uploaded,
                "the release v1 is a draft, which only its owners see; resume with:",
                json!([false, false, "unknown"]),
            ),
        ] {
            let state = format!("{WHEEL}  {}\n", states[2].as_str().unwrap());
            scope.spawn(move || {
                let stdout = stopped(rule, reached, "human");
                assert!(
                    stdout.contains(human) && stdout.contains(&state),
                    "{rule}: {stdout}"
                );
            });
            scope.spawn(move || {
                let summary: Value = serde_json::from_str(&stopped(rule, reached, "json")).unwrap();
                assert_eq!(
                    json!([summary["published"], summary["complete"], wheel(&summary)]),
                    states,
                    "{rule}: {summary}"
                );
                assert!(summary["resume"].is_string(), "{rule}: {summary}");
            });
        }
    });
}

/// What came of a run in which a call goes wrong, in so many seconds.
fn played(rules: &[&str], seconds: u64) -> PublishRun {
    let mut play = play(GithubSettings::default(), rules);
    Arc::get_mut(&mut play).unwrap().time = Duration::from_secs(seconds);
    let files = Files::of(1, 1);
    play.run(&files, &files.desired_release(1), PublishPolicy::default())
        .unwrap()
}

#[test]
fn what_was_under_way_when_the_time_was_over_is_kept() {
    let made = played(&["create-release#1=mute:0"], 1);
    assert!(
        matches!(
            made.end,
            PublishResult::Failed(GithubError::Deadline { .. })
        ),
        "{:?}",
        made.end
    );
    assert_eq!(
        made.unknown_steps,
        [PublishStep::Create {
            tag: "v1".to_owned()
        }]
    );
    let published = played(&["edit-release=mute:0"], 600);
    assert!(
        matches!(
            published.end,
            PublishResult::Failed(GithubError::NoResponse { .. })
        ),
        "{:?}",
        published.end
    );
    assert!(
        matches!(published.unknown_steps[..], [PublishStep::Publish { .. }]),
        "{:?}",
        published.unknown_steps
    );
    let sent = played(&["upload#1=mute:0", "list-releases#3=bad-credentials"], 600);
    assert!(
        matches!(sent.end, PublishResult::Failed(GithubError::Status { .. })),
        "{:?}",
        sent.end
    );
    assert!(
        matches!(sent.unknown_steps[..], [PublishStep::Upload { .. }]),
        "{:?}",
        sent.unknown_steps
    );
}

#[test]
fn what_was_seen_to_come_through_or_never_sent_is_not_open() {
    for rules in [
        &["upload#1=mute:0"][..],
        &["create-release#1=mute:0"],
        &["edit-release#1=done:502"],
        &[],
    ] {
        let applied = played(rules, 600);
        assert!(
            matches!(applied.end, PublishResult::Done(_)),
            "{rules:?}: {:?}",
            applied.end
        );
        assert_eq!(applied.unknown_steps, [], "{rules:?}");
    }
    for rules in [
        &["upload=no-right"][..],
        &["create-release=retry-after:429:60"],
        &["edit-release=limit:403:90"],
    ] {
        let applied = played(rules, 100);
        assert!(
            matches!(applied.end, PublishResult::Failed(_)),
            "{rules:?}: {:?}",
            applied.end
        );
        assert_eq!(applied.unknown_steps, [], "{rules:?}");
    }
}
