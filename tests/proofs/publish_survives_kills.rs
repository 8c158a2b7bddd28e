//! A publish that is killed, anywhere: SIGKILL hits the real program while the server holds one of
//! its requests, so that it is known what was done and what was not. The next run always ends
//! right.

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use flate2::Compression;
use sha2::{Digest as _, Sha256};

use crate::support::source_archive::gzip;
use crate::support::{Project, SourceArchive, Wheel};
use fake_github::model::{
    DigestMode, FakeGithub, FaultRule, FaultSchedule, GithubSettings, StoredAsset, StoredRelease,
};
use fake_github::server::FakeServer;

const WHEELS: [&str; 2] = [
    "flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl",
    "flash_attn-2.8.3+rocm62torch2.5-cp312-cp312-linux_x86_64.whl",
];
/// Larger than what two sockets on loopback hold, so that a server that stops reading has not all
/// of it.
const LARGE: (&str, usize) = ("large-1.tar.gz", 24 << 20);
const DOCUMENTS: [&str; 2] = ["SHA256SUMS", "rock-manifest.json"];
/// How often a run is killed in each state, at least.
const EACH: usize = 5;
const KILLS: usize = 200;
/// How many are played at the same time: nearly all of it is waiting between two writes.
const AT_ONCE: usize = 24;

/// What there is before the run that is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    Nothing,
    /// Two empty drafts of the tag.
    TwoDrafts,
    /// A draft that holds all files, one with other bytes.
    DraftOfOther,
    /// A published release, one file with other bytes.
    PublishedOther,
    /// A draft that holds all files, and GitHub tells no digests.
    DraftWithoutDigests,
    /// A draft that has room for the documents alone.
    FullDraft,
    /// Publishing locks a release.
    Locking,
}

/// A state to be killed in: its name, what is there before, the arguments, and the request that is
/// held. A name is an operation and where it is held: before it, or after it, when the response to a
/// read is lost or the outcome of a write is unknown.
struct State {
    name: &'static str,
    before: Before,
    more: &'static [&'static str],
    rules: &'static [&'static str],
}

const fn state(
    name: &'static str,
    before: Before,
    more: &'static [&'static str],
    rules: &'static [&'static str],
) -> State {
    State {
        name,
        before,
        more,
        rules,
    }
}

const REPLACE: &[&str] = &["--replace", "--allow-published"];
const FULL: &[&str] = &["--verify", "full"];
const CLEAN: &[&str] = &["--clean-duplicates"];

/// Where a rule has no number, each kill takes another of the first requests of that kind.
const STATES: [State; 40] = [
    state(
        "list the releases: before",
        Before::Nothing,
        &[],
        &["list-releases#1=hold-before"],
    ),
    state(
        "list the releases: response lost",
        Before::Nothing,
        &[],
        &["list-releases#1=hold-after"],
    ),
    state(
        "read the tag: response lost",
        Before::Nothing,
        &[],
        &["tag-ref#1=hold-after"],
    ),
    state(
        "create a draft: before",
        Before::Nothing,
        &[],
        &["create-release#1=hold-before"],
    ),
    state(
        "create a draft: unknown outcome",
        Before::Nothing,
        &[],
        &["create-release#1=hold-after"],
    ),
    state(
        "create a draft: rate limit",
        Before::Nothing,
        &[],
        &["create-release=retry-after:429:600"],
    ),
    state(
        "delete an empty duplicate draft: before",
        Before::TwoDrafts,
        CLEAN,
        &["delete-release#1=hold-before"],
    ),
    state(
        "delete an empty duplicate draft: unknown outcome",
        Before::TwoDrafts,
        CLEAN,
        &["delete-release#1=hold-after"],
    ),
    state(
        "upload a file: before",
        Before::Nothing,
        &[],
        &["upload=hold-before"],
    ),
    state(
        "upload a file: half of it, which leaves a starter",
        Before::Nothing,
        &[],
        &["upload#3=hold-upload:1000000"],
    ),
    state(
        "upload a file: unknown outcome",
        Before::Nothing,
        &[],
        &["upload=hold-after"],
    ),
    state(
        "list the releases after an upload that left a starter: before",
        Before::Nothing,
        &[],
        &["upload=cut:100", "list-releases#3=hold-before"],
    ),
    state(
        "list the releases after an upload that left a starter: response lost",
        Before::Nothing,
        &[],
        &["upload=cut:100", "list-releases#3=hold-after"],
    ),
    state(
        "list the releases after an upload that left nothing: response lost",
        Before::Nothing,
        &[],
        &["upload=lost:100", "list-releases#3=hold-after"],
    ),
    state(
        "delete a starter: before",
        Before::Nothing,
        &[],
        &["upload=cut:100", "delete-asset#1=hold-before"],
    ),
    state(
        "delete a starter: unknown outcome",
        Before::Nothing,
        &[],
        &["upload=cut:100", "delete-asset#1=hold-after"],
    ),
    state(
        "upload a file again: before",
        Before::Nothing,
        &[],
        &["upload#1=cut:100", "upload#5=hold-before"],
    ),
    state(
        "upload a file again: unknown outcome",
        Before::Nothing,
        &[],
        &["upload#1=cut:100", "upload#5=hold-after"],
    ),
    state(
        "list the assets of a complete draft: before",
        Before::Nothing,
        &[],
        &["list-assets#2=hold-before"],
    ),
    state(
        "list the assets of a complete draft: response lost",
        Before::Nothing,
        &[],
        &["list-assets#2=hold-after"],
    ),
    state(
        "download an asset to hash it: before",
        Before::DraftWithoutDigests,
        FULL,
        &["get-asset=hold-before"],
    ),
    state(
        "download an asset to hash it: response lost",
        Before::DraftWithoutDigests,
        FULL,
        &["storage=hold-after"],
    ),
    state(
        "publish the draft: before",
        Before::Nothing,
        &[],
        &["edit-release#1=hold-before"],
    ),
    state(
        "publish the draft: unknown outcome",
        Before::Nothing,
        &[],
        &["edit-release#1=hold-after"],
    ),
    state(
        "publish an immutable release: unknown outcome",
        Before::Locking,
        &[],
        &["edit-release#1=hold-after"],
    ),
    state(
        "delete an asset with different content: before",
        Before::DraftOfOther,
        &[],
        &["delete-asset#1=hold-before"],
    ),
    state(
        "delete an asset with different content: unknown outcome",
        Before::DraftOfOther,
        &[],
        &["delete-asset#1=hold-after"],
    ),
    state(
        "delete an asset with different content, --replace: before",
        Before::DraftOfOther,
        REPLACE,
        &["delete-asset#1=hold-before"],
    ),
    state(
        "delete an asset with different content, --replace: unknown outcome",
        Before::DraftOfOther,
        REPLACE,
        &["delete-asset#1=hold-after"],
    ),
    state(
        "upload over different content in a draft, --replace: before",
        Before::DraftOfOther,
        REPLACE,
        &["upload#1=hold-before"],
    ),
    state(
        "upload a replacement of a published asset: before",
        Before::PublishedOther,
        REPLACE,
        &["upload=hold-before"],
    ),
    state(
        "upload a replacement of a published asset: unknown outcome",
        Before::PublishedOther,
        REPLACE,
        &["upload=hold-after"],
    ),
    state(
        "delete a replaced published asset: before",
        Before::PublishedOther,
        REPLACE,
        &["delete-asset=hold-before"],
    ),
    state(
        "delete a replaced published asset: unknown outcome",
        Before::PublishedOther,
        REPLACE,
        &["delete-asset=hold-after"],
    ),
    state(
        "rename the replacement of a published asset: before",
        Before::PublishedOther,
        REPLACE,
        &["edit-asset=hold-before"],
    ),
    state(
        "rename the replacement of a published asset: unknown outcome",
        Before::PublishedOther,
        REPLACE,
        &["edit-asset=hold-after"],
    ),
    state(
        "create a second release part: before",
        Before::FullDraft,
        &[],
        &["create-release#1=hold-before"],
    ),
    state(
        "create a second release part: unknown outcome",
        Before::FullDraft,
        &[],
        &["create-release#1=hold-after"],
    ),
    state(
        "upload to both release parts: unknown outcome",
        Before::FullDraft,
        &[],
        &["upload=hold-after"],
    ),
    state(
        "publish the second release part: unknown outcome",
        Before::FullDraft,
        &[],
        &["edit-release#1=hold-after"],
    ),
];

/// The bytes of a wheel, or of what it was before.
fn wheel(name: &str, is_other: bool) -> Vec<u8> {
    let wheel = Wheel::named(name);
    if is_other {
        wheel.file("flash_attn/old.py", b"1").bytes()
    } else {
        wheel.bytes()
    }
}

fn publish(project: &Project, server: &FakeServer, more: &[&str]) -> Child {
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
    let words: Vec<&str> = words.iter().chain(more).copied().collect();
    project
        .command(&words)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Runs it to the end, which must be this one.
fn ends(project: &Project, server: &FakeServer, more: &[&str], exit: i32, what: &str) {
    let done = publish(project, server, more).wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(
        done.status.code(),
        Some(exit),
        "{what}: {stderr}\n{}",
        book(server)
    );
}

/// All requests, for a kill that goes wrong.
fn book(server: &FakeServer) -> String {
    let github = server.github();
    let line = |output: &fake_github::model::LoggedRequest| {
        format!(
            "#{} {} {} {} {:?}\n",
            output.number, output.status, output.method, output.url, output.fault
        )
    };
    github.ledger.requests.iter().map(line).collect()
}

/// A release that somebody else filled: there is room for two more assets.
fn fill(server: &FakeServer) {
    let mut github = server.github();
    let sha256 = Some(digest(b"x"));
    let asset = |at: u64| StoredAsset {
        id: 500_000 + at,
        name: format!("of-others-{at}.txt"),
        content_type: "text/plain".to_owned(),
        is_uploaded: true,
        size_bytes: 1,
        sha256: sha256.clone(),
        ..StoredAsset::default()
    };
    let release = StoredRelease {
        id: 499_999,
        tag_name: "v1".to_owned(),
        draft: true,
        assets: (0..998).map(|at| Arc::new(asset(at))).collect(),
        ..StoredRelease::default()
    };
    github
        .repository_mut("me/wheels")
        .releases
        .insert(release.id, Arc::new(release));
}

fn set_scene(before: Before, what: &str) -> (Project, FakeServer) {
    let mut settings = GithubSettings::default();
    if before == Before::DraftWithoutDigests {
        settings.digests = DigestMode::Null;
    }
    settings.keep_bytes = 64 << 20;
    let server = FakeServer::start(FakeGithub::new(settings));
    server
        .github()
        .repository_mut("me/wheels")
        .has_immutable_releases = before == Before::Locking;
    let project = Project::new().env("GITHUB_TOKEN", "writer");
    let has_other = matches!(before, Before::DraftOfOther | Before::PublishedOther);
    let path = |name: &str| format!("dist/{name}");
    let mut project = WHEELS.iter().fold(project, |project, name| {
        project.bytes(&path(name), &wheel(name, has_other))
    });
    match before {
        Before::TwoDrafts => {
            for _ in 0..2 {
                let made = ureq::post(format!("{}/repos/me/wheels/releases", server.url()))
                    .header("authorization", "Bearer writer")
                    .header("user-agent", "a-test")
                    .send(r#"{"tag_name": "v1", "draft": true}"#);
                assert_eq!(made.unwrap().status(), 201);
            }
        }
        Before::DraftOfOther | Before::DraftWithoutDigests => {
            server
                .github()
                .faults
                .add("edit-release=no-right".parse::<FaultRule>().unwrap());
            ends(&project, &server, &[], 3, what);
        }
        Before::PublishedOther => ends(&project, &server, &[], 0, what),
        Before::FullDraft => fill(&server),
        Before::Nothing | Before::Locking => {}
    }
    if has_other {
        // One wheel is another one now, and so are the documents.
        project = project.bytes(&path(WHEELS[1]), &wheel(WHEELS[1], false));
    }
    let mut github = server.github();
    (github.faults, github.ledger) = (
        FaultSchedule::none(),
        fake_github::model::RequestLedger::default(),
    );
    drop(github);
    (project, server)
}

/// The rules of a state for its kill of this number: where a rule names no request, another one
/// each time.
fn rules(state: &State, kill: usize) -> Vec<FaultRule> {
    let numbered = |rule: &str| -> FaultRule {
        let mut rule: FaultRule = rule.parse().unwrap();
        let is_limit = matches!(
            rule.fault,
            fake_github::model::InjectedFault::RetryAfter(..)
        );
        // A run over a published release replaces one wheel and two documents, one over a full
        // draft sends four files.
        let kinds = if state.before == Before::PublishedOther {
            3
        } else {
            4
        };
        rule.nth = rule
            .nth
            .or_else(|| (!is_limit).then_some(1 + (kill % kinds) as u64));
        rule
    };
    state.rules.iter().map(|rule| numbered(rule)).collect()
}

/// Waits until the state is reached.
fn wait(server: &FakeServer, child: &mut Child, state: &State, what: &str) {
    let end = Instant::now() + Duration::from_mins(4);
    let is_limit = state.rules[0].contains("retry-after");
    loop {
        let is_there = if is_limit {
            std::thread::sleep(Duration::from_millis(5));
            server
                .github()
                .ledger
                .requests
                .iter()
                .any(|request| request.status == 429)
        } else {
            server.wait_held(Duration::from_millis(200)).is_some()
        };
        if is_there {
            return;
        }
        let ended = child.try_wait().unwrap();
        assert!(
            ended.is_none() && Instant::now() < end,
            "{what}: never reached ({ended:?})\n{}",
            book(server)
        );
    }
}

type Files = BTreeMap<String, String>;

/// Name and digest of what the releases of the tag hold, those of others apart.
fn held(releases: &[Arc<StoredRelease>], what: &str) -> Files {
    let mut files = Files::new();
    for asset in releases.iter().flat_map(|release| &release.assets) {
        if asset.name.starts_with("of-others-") {
            continue;
        }
        assert!(asset.is_uploaded, "{what}: {} is a starter", asset.name);
        let before = files.insert(asset.name.clone(), asset.sha256.clone().unwrap_or_default());
        assert_eq!(before, None, "{what}: {} twice", asset.name);
    }
    files
}

fn releases(server: &FakeServer) -> Vec<Arc<StoredRelease>> {
    server
        .github()
        .repository("me/wheels")
        .releases
        .values()
        .cloned()
        .collect()
}

fn digest(bytes: &[u8]) -> String {
    rock_matrix::names::Digest::new(Sha256::digest(bytes).into()).to_hex()
}

/// What holds at the moment of a kill.
fn check_killed(server: &FakeServer, wanted: &Files, before: Before, what: &str) {
    for release in releases(server).iter().filter(|release| !release.draft) {
        let has = |name: &String, digest: &String| {
            release
                .assets
                .iter()
                .any(|asset| asset.name == *name && asset.sha256.as_ref() == Some(digest))
        };
        if before == Before::PublishedOther {
            // Its own bytes, old ones, or new ones that wait to be renamed: whatever it is, it is
            // there.
            let is_there = |name: &String| {
                release.assets.iter().any(|a| {
                    a.is_uploaded
                        && (a.name == *name || a.name.starts_with(&format!("{name}.tmp-")))
                })
            };
            assert!(
                wanted.keys().all(is_there),
                "{what}: a published file is gone"
            );
        } else if release.tag_name == "v1" {
            assert!(
                wanted.iter().all(|(name, digest)| has(name, digest)),
                "{what}: published and not whole"
            );
        }
        assert!(
            before == Before::PublishedOther
                || release.assets.iter().all(|asset| asset.is_uploaded),
            "{what}"
        );
    }
}

/// What holds after the next run: all of it is public, under its names, once.
fn check_ended(server: &FakeServer, wanted: &Files, before: Before, what: &str) {
    let releases = releases(server);
    let tags: Vec<&str> = releases
        .iter()
        .map(|release| release.tag_name.as_str())
        .collect();
    let expected: &[&str] = if before == Before::FullDraft {
        &["v1-2", "v1"]
    } else {
        &["v1"]
    };
    assert_eq!(
        tags.iter().collect::<BTreeSet<_>>(),
        expected.iter().collect(),
        "{what}"
    );
    assert_eq!(
        (tags.len(), releases.iter().any(|release| release.draft)),
        (expected.len(), false),
        "{what}"
    );
    let mut files = held(&releases, what);
    let sums = releases
        .iter()
        .flat_map(|release| &release.assets)
        .find(|asset| asset.name == DOCUMENTS[0])
        .unwrap();
    let sums = String::from_utf8(sums.content.as_ref().unwrap().to_vec()).unwrap();
    for (name, digest) in wanted {
        assert!(
            sums.contains(&format!("{digest}  {name}\n")),
            "{what}: SHA256SUMS tells nothing of {name}"
        );
    }
    for document in DOCUMENTS {
        assert!(files.remove(document).is_some(), "{what}: no {document}");
    }
    assert_eq!(files, *wanted, "{what}");
    let github = server.github();
    assert_eq!(
        (&github.ledger.complaints[..], github.ledger.leaks),
        (&[][..], 0),
        "{what}"
    );
}

/// Kills one run, and runs it again.
fn kill(state: &State, number: usize) {
    let what = format!("{} ({number})", state.name);
    let (project, server) = set_scene(state.before, &what);
    let mut wanted: Files = WHEELS
        .iter()
        .map(|name| {
            (
                (*name).to_owned(),
                digest(&std::fs::read(project.path(&format!("dist/{name}"))).unwrap()),
            )
        })
        .collect();
    if state.rules[0].contains("hold-upload") {
        let archive = SourceArchive::named(LARGE.0).file("large-1/data", vec![7; LARGE.1]);
        let bytes = gzip(&archive.tar(), Compression::none());
        std::fs::write(project.path(&format!("dist/{}", LARGE.0)), &bytes).unwrap();
        wanted.insert(LARGE.0.to_owned(), digest(&bytes));
    }
    for rule in rules(state, number) {
        server.github().faults.add(rule);
    }
    let mut child = publish(&project, &server, state.more);
    wait(&server, &mut child, state, &what);
    child.kill().unwrap();
    child.wait().unwrap();
    check_killed(&server, &wanted, state.before, &what);
    if state.rules[0].contains("hold-upload") {
        let has_starter =
            |release: &Arc<StoredRelease>| release.assets.iter().any(|asset| !asset.is_uploaded);
        assert!(
            releases(&server).iter().any(has_starter),
            "{what}: there is no starter"
        );
    }
    server.github().faults = FaultSchedule::none();
    server.github().forget_waits();
    ends(&project, &server, state.more, 0, &what);
    check_ended(&server, &wanted, state.before, &what);
}

/// Each state at least five times, two hundred in all; `--nocapture` shows the table.
#[test]
fn a_publish_that_is_killed_anywhere_is_ended_by_the_next_run() {
    let only = std::env::var("ROCK_KILL").ok();
    let is_played = |state: &&State| {
        only.as_ref()
            .is_none_or(|word| state.name.contains(word.as_str()))
    };
    let played: Vec<&State> = STATES.iter().filter(is_played).collect();
    let next = AtomicUsize::new(0);
    let counts: Mutex<BTreeMap<&str, usize>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= played.len() * EACH {
                        return;
                    }
                    let state = played[at % played.len()];
                    kill(state, at / played.len());
                    *counts.lock().unwrap().entry(state.name).or_default() += 1;
                }
            });
        }
    });
    let counts = counts.into_inner().unwrap();
    let mut table = String::new();
    for state in &played {
        table.push_str(&format!("{:>3}  {}\n", counts[state.name], state.name));
    }
    table.push_str(&format!("{:>3}  in all\n", counts.values().sum::<usize>()));
    std::io::Write::write_all(&mut std::io::stderr(), table.as_bytes()).unwrap();
    assert!(counts.values().all(|count| *count >= EACH));
    assert!(only.is_some() || counts.values().sum::<usize>() >= KILLS);
}
