//! A maintainer lets old nightly releases go by a rule: told first, deleted when asked for, and
//! nothing else.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::read_what_is_published::{add, server};
use crate::support::{Outcome, Project};
use fake_github::model::{ReachedState, StoredRelease};
use fake_github::server::FakeServer;

const DAY_MS: u64 = 86_400_000;

/// A release that was published, or a draft that was last changed, so many days ago.
fn aged(server: &FakeServer, tag: &str, days: u64, draft: bool) {
    add(server, tag, &["a-1-py3-none-any.whl", "SHA256SUMS"], draft);
    age(server, tag, days, draft);
}

/// A release with these files that was published so many days ago.
pub fn aged_with(server: &FakeServer, tag: &str, files: &[&str], days: u64) {
    add(server, tag, files, false);
    age(server, tag, days, false);
}

fn age(server: &FakeServer, tag: &str, days: u64, draft: bool) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let at_ms = u64::try_from(now.as_millis()).unwrap() - days * DAY_MS - 1000;
    change(server, tag, |release| {
        (release.created_ms, release.updated_ms) = (at_ms, at_ms);
        release.published_ms = (!draft).then_some(at_ms);
        for asset in &mut release.assets {
            Arc::make_mut(asset).created_ms = at_ms;
        }
    });
    if !draft {
        let sha = fake_github::model::state::fake_sha(tag);
        server
            .github()
            .repository_mut("me/wheels")
            .tags
            .insert(tag.to_owned(), sha);
    }
}

fn change(server: &FakeServer, tag: &str, with: impl FnOnce(&mut StoredRelease)) {
    let mut github = server.github();
    let mut releases = github.repository_mut("me/wheels").releases.values_mut();
    with(Arc::make_mut(
        releases.find(|release| release.tag_name == tag).unwrap(),
    ));
}

/// Four nightlies, one of them immutable, and a release; the newest of all is the latest.
fn nightlies() -> FakeServer {
    let server = server(fake_github::model::GithubSettings::default(), &[]);
    for (tag, days) in [
        ("v1", 400),
        ("nightly-1", 90),
        ("nightly-2", 60),
        ("nightly-3", 40),
        ("nightly-4", 1),
    ] {
        aged(&server, tag, days, false);
    }
    change(&server, "nightly-2", |release| release.immutable = true);
    server
}

pub fn tags(server: &FakeServer) -> Vec<String> {
    let mut tags: Vec<String> = server
        .github()
        .repository("me/wheels")
        .releases
        .values()
        .map(|release| release.tag_name.clone())
        .collect();
    tags.sort();
    tags
}

fn prune(server: &FakeServer, more: &[&str], exit: i32) -> Outcome {
    let url = server.url();
    let words = ["release", "prune", "--repo", "me/wheels", "--api-url", &url];
    let project = Project::new().env("GITHUB_TOKEN", "writer");
    let outcome = project.run(&[&words[..], more].concat()).exits(exit);
    assert!(
        !outcome.stdout.contains("writer") && !outcome.stderr.contains("writer"),
        "the token is printed"
    );
    outcome
}

#[test]
fn a_prune_without_apply_lists_deletions_with_reasons() {
    let server = nightlies();
    let stdout = prune(
        &server,
        &[
            "--tag-glob",
            "nightly-*",
            "--keep",
            "1",
            "--older-than",
            "30d",
        ],
        0,
    )
    .stdout;
    insta::assert_snapshot!(stdout, @r"
    would delete nightly-1: 2 files, 14 bytes; number 4 from the newest, 90 days old
    would delete nightly-3: 2 files, 14 bytes; number 2 from the newest, 40 days old
    keep nightly-4: it is marked as the latest release
    keep nightly-2: it is immutable
    1 release with other tags than `nightly-*`
    2 releases with 28 bytes would be deleted; add `--apply` to delete
    ");
    assert_eq!(
        (tags(&server).len(), server.github().ledger.writes()),
        (5, 0)
    );
    let json = prune(
        &server,
        &["--tag-glob", "nightly-*", "--keep", "3", "--format", "json"],
        0,
    )
    .json();
    let planned: Vec<&str> = json["releases"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|release| release["action"] == "delete" && release["deleted"] == false)
        .map(|release| release["tag"].as_str().unwrap())
        .collect();
    assert_eq!(
        (json["applied"].as_bool(), planned),
        (Some(false), vec!["nightly-1"])
    );
}

#[test]
fn what_the_rule_lets_go_is_deleted_drafts_first_and_a_second_run_deletes_nothing() {
    let server = nightlies();
    aged(&server, "nightly-0", 50, true);
    aged(&server, "nightly-5", 0, true);
    let rule = [
        "--tag-glob",
        "nightly-*",
        "--keep",
        "1",
        "--older-than",
        "30d",
        "--apply",
    ];
    let stdout = prune(&server, &rule, 0).stdout;
    assert!(
        stdout.starts_with(
            "deleted nightly-0: 2 files, 14 bytes; a draft, last changed 50 days old\n"
        ),
        "{stdout}"
    );
    assert!(
        stdout.ends_with("3 releases with 42 bytes deleted\n"),
        "{stdout}"
    );
    assert_eq!(tags(&server), ["nightly-2", "nightly-4", "nightly-5", "v1"]);
    assert!(
        server
            .github()
            .repository("me/wheels")
            .tags
            .contains_key("nightly-1"),
        "tags stay"
    );
    let before = server.github().ledger.writes();
    let again = prune(&server, &rule, 0).stdout;
    assert!(again.ends_with("nothing was deleted\n"), "{again}");
    assert_eq!(server.github().ledger.writes(), before);
}

#[test]
fn tags_go_only_on_request() {
    let server = nightlies();
    prune(
        &server,
        &[
            "--tag-glob",
            "nightly-?",
            "--keep",
            "3",
            "--apply",
            "--delete-tags",
        ],
        0,
    );
    let github = server.github();
    let left: Vec<&String> = github.repository("me/wheels").tags.keys().collect();
    assert_eq!(left, ["nightly-2", "nightly-3", "nightly-4", "v1"]);
}

#[test]
fn the_slashes_of_a_tag_stand_for_themselves_when_it_is_deleted() {
    let server = nightlies();
    aged(&server, "nightly/old+one", 100, false);
    prune(
        &server,
        &[
            "--tag-glob",
            "nightly/*",
            "--keep",
            "0",
            "--apply",
            "--delete-tags",
        ],
        0,
    );
    let github = server.github();
    assert!(
        !github
            .repository("me/wheels")
            .tags
            .contains_key("nightly/old+one")
    );
    let last = &github.ledger.requests.last().unwrap().url;
    assert!(last.ends_with("/git/refs/tags/nightly/old%2Bone"), "{last}");
}

#[test]
fn a_prune_that_was_killed_continues_when_it_is_run_again() {
    let server = nightlies();
    server
        .github()
        .faults
        .add("delete-release#2=hold-before".parse().unwrap());
    let url = server.url();
    let rule = ["--tag-glob", "nightly-*", "--keep", "1", "--apply"];
    let words = ["release", "prune", "--repo", "me/wheels", "--api-url", &url];
    let project = Project::new().env("GITHUB_TOKEN", "writer");
    let mut child = project
        .command(&[&words[..], &rule].concat())
        .spawn()
        .unwrap();
    server
        .wait_held(Duration::from_mins(1))
        .expect("the first is deleted");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(tags(&server).len(), 4);
    server.github().faults = fake_github::model::FaultSchedule::none();
    server.release_held();
    prune(&server, &rule, 0);
    assert_eq!(tags(&server), ["nightly-2", "nightly-4", "v1"]);
    assert!(server.github().ledger.times(ReachedState::ReleaseDeleted) >= 2);
}

#[test]
fn an_error_half_way_reports_the_deleted_and_exits_with_3() {
    let server = nightlies();
    server
        .github()
        .faults
        .add("delete-release#2=no-right".parse().unwrap());
    let outcome = prune(
        &server,
        &["--tag-glob", "nightly-*", "--keep", "1", "--apply"],
        3,
    );
    assert!(
        outcome.stdout.contains("\ndeleted nightly-1:")
            || outcome.stdout.starts_with("deleted nightly-1:")
    );
    assert!(
        outcome.stdout.contains("not yet deleted nightly-3:"),
        "{}",
        outcome.stdout
    );
    assert!(
        outcome.stderr.contains("error[G104 token-without-right]"),
        "{}",
        outcome.stderr
    );
    let url = server.url();
    let words = [
        "release",
        "prune",
        "--repo",
        "me/wheels",
        "--api-url",
        &url,
        "--tag-glob",
        "n*",
        "--keep",
        "1",
    ];
    let stranger = Project::new();
    stranger.run(&words).exits(0);
    let stderr = stranger
        .run(&[&words[..], &["--apply"]].concat())
        .exits(3)
        .stderr;
    assert!(stderr.contains("error[G103 bad-token]"), "{stderr}");
}

/// A later run would not find the release of a tag that was left.
#[test]
fn a_tag_that_cannot_be_deleted_is_reported_and_the_others_go() {
    let server = nightlies();
    server
        .github()
        .faults
        .add("delete-tag#1=no-right".parse().unwrap());
    let rule = ["--tag-glob", "nightly-*", "--keep", "1"];
    let outcome = prune(
        &server,
        &[&rule[..], &["--apply", "--delete-tags"]].concat(),
        3,
    );
    let lines: Vec<&str> = outcome
        .stdout
        .lines()
        .filter(|line| line.starts_with("deleted "))
        .collect();
    assert!(lines.len() >= 2, "{}", outcome.stdout);
    let left = |line: &&&str| line.ends_with("; its tag was not deleted");
    assert_eq!(lines.iter().filter(left).count(), 1, "{}", outcome.stdout);
    assert!(
        outcome.stderr.contains("error[G104 token-without-right]"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn without_a_rule_nothing_is_requested() {
    let server = nightlies();
    for rule in [
        &[][..],
        &["--tag-glob", "nightly-*"],
        &["--keep", "3"],
        &["--tag-glob", "*", "--keep", "3"],
        &["--tag-glob", "nightly-*", "--older-than", "30"],
        &["--tag-glob", "nightly-*", "--keep", "1", "dist"],
        &["--tag-glob", "nightly-*", "--keep", "1", "--delete-tags"],
    ] {
        prune(&server, rule, 2);
    }
    Project::new()
        .run(&[
            "publish",
            "--repo",
            "me/wheels",
            "--tag",
            "v1",
            "--apply",
            "dist",
        ])
        .exits(2);
    Project::new()
        .run(&["publish", "--repo", "me/wheels", "dist"])
        .exits(2);
    assert_eq!(server.github().ledger.requests.len(), 0);
}

#[test]
fn a_dry_run_is_what_it_is_anyway_and_no_tag_is_requested() {
    let server = nightlies();
    let rule = ["--tag-glob", "nightly-*", "--keep", "1"];
    let plain = prune(&server, &rule, 0).stdout;
    assert_eq!(
        prune(&server, &[&rule[..], &["--dry-run"]].concat(), 0).stdout,
        plain
    );
    let both = prune(&server, &[&rule[..], &["--dry-run", "--apply"]].concat(), 2).stderr;
    assert!(
        both.contains("cannot be used with") && !both.contains("--tag <TAG>"),
        "{both}"
    );
    let bare = prune(&server, &["--keep", "1"], 2).stderr;
    assert!(
        bare.contains("--tag-glob") && !bare.contains("--tag <TAG>"),
        "{bare}"
    );
    let without_tag = Project::new()
        .run(&["publish", "--repo", "me/wheels", "--dist", "dist"])
        .exits(2)
        .stderr;
    assert!(
        without_tag.contains("`--repo` needs `--tag`"),
        "{without_tag}"
    );
}

/// With a saved list nothing is asked, and no repository need be named: there is no server at the
/// address.
#[test]
fn a_saved_list_is_pruned_without_asking_anybody() {
    let release = |id: u64, tag: &str, day: &str, rest: &str| {
        format!(
            r#"{{"id": {id}, "tag_name": "{tag}", "published_at": "2026-{day}T00:00:00Z", "assets": []{rest}}}"#
        )
    };
    let releases = [
        release(1, "nightly-1", "01-01", ""),
        release(2, "nightly-2", "02-01", ""),
        release(3, "nightly-3", "03-01", ""),
        release(4, "nightly-4", "04-01", r#", "prerelease": true"#),
    ];
    let project = Project::new().file("state.json", &format!("[{}]", releases.join(",")));
    let words = [
        "release",
        "prune",
        "--api-url",
        "http://127.0.0.1:9",
        "--tag-glob",
        "nightly-*",
        "--keep",
        "1",
    ];
    let stdout = project
        .run(&[&words[..], &["--dry-run", "--state", "state.json"]].concat())
        .exits(0)
        .stdout;
    let decisions = stdout
        .lines()
        .map(|line| line.split(", ").next().unwrap().to_owned() + "\n")
        .collect::<String>();
    insta::assert_snapshot!(decisions, @r#"
    would delete nightly-1: 0 files
    would delete nightly-2: 0 files
    keep nightly-4: the newest
    keep nightly-3: it is marked as the latest release
    2 releases with 0 bytes would be deleted; add `--apply` to delete
    "#);
    let refused = project.run(&words).exits(2).stderr;
    assert!(refused.contains("--repo <OWNER/REPO>"), "{refused}");
}
