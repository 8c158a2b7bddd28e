//! Publishing to a GitHub that asks to wait, turns away, breaks off: what is sent when, how often,
//! and what is not.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rock_matrix::compat::Compat;
use rock_matrix::github::{
    ApiEndpoint, CallOptions, GithubError, HttpClient, ProxySettings, PublishResult, RateLimits,
    ReleaseClient, SystemClock, Token,
};
use rock_matrix::names::Digest;
use rock_matrix::publish::ListedAsset;
use rock_matrix::publish::remote::PublishPolicy;
use sha2::{Digest as _, Sha256};

use crate::support::play::{Files, Play};
use fake_github::model::{
    ApiOperation, ApiRequest, DigestMode, FakeGithub, FaultRule, GithubSettings, ListingMode,
    ReachedState, StoredAsset, StoredRelease,
};
use fake_github::server::FakeServer;

pub fn play(settings: GithubSettings, rules: &[&str]) -> Arc<Play> {
    let mut github = FakeGithub::new(settings);
    for rule in rules {
        github.faults.add(rule.parse::<FaultRule>().unwrap());
    }
    Play::of(github, 7)
}

pub fn complaints(play: &Play) -> Vec<String> {
    play.github().ledger.complaints.clone()
}

pub fn request_count(play: &Play, operation: ApiOperation) -> usize {
    play.github().ledger.request_count(operation)
}

#[test]
fn nothing_is_sent_while_an_upload_waits() {
    for (rule, least_s) in [
        ("upload#2=retry-after:429:20", 20),
        ("upload#2=retry-after:403:40", 40),
        ("upload#2=secondary:403", 60),
        ("upload#2=limit:403:30", 30),
    ] {
        let play = play(GithubSettings::default(), &[rule]);
        let files = Files::of(5, 1);
        assert!(
            matches!(
                play.publish(&files, &files.desired_release(1), PublishPolicy::default()),
                PublishResult::Done(_)
            ),
            "{rule}"
        );
        assert!(
            (least_s..least_s + 20).contains(&play.seconds()),
            "{rule}: {} s",
            play.seconds()
        );
        assert_eq!(complaints(&play), Vec::<String>::new(), "{rule}");
        assert_eq!(
            request_count(&play, ApiOperation::Upload),
            7,
            "{rule}: once more than there are files"
        );
        let waits = play.waits.lock().unwrap().join("\n");
        assert!(
            waits.contains("POST") && !waits.contains("is unknown"),
            "{rule}: {waits}"
        );
    }
}

/// What a server asks for holds all, and is said once, of the call that was turned away.
#[test]
fn a_wait_is_reported_once_and_of_what_was_sent() {
    let play = play(GithubSettings::default(), &["upload#1=retry-after:429:8"]);
    let files = Files::of(5, 1);
    assert!(matches!(
        play.publish(&files, &files.desired_release(1), PublishPolicy::default()),
        PublishResult::Done(_)
    ));
    let log = play.waits.lock().unwrap().clone();
    let waits: Vec<&String> = log.iter().filter(|line| line.contains("429")).collect();
    let first = files
        .bytes
        .keys()
        .find(|name| name.contains("a-0"))
        .unwrap();
    assert!(
        matches!(&waits[..], [one] if one.contains(first)),
        "{log:?}"
    );
}

/// The name of the file is in the line about each wait, and in the error after the last attempt.
#[test]
fn an_upload_with_an_unknown_outcome_names_its_file() {
    for (rule, wait_count) in [("upload#1=502", 1), ("upload=502", 6)] {
        let play = play(GithubSettings::default(), &[rule]);
        let files = Files {
            at_once: 1,
            ..Files::of(1, 1)
        };
        let end = play.publish(&files, &files.desired_release(1), PublishPolicy::default());
        let upload = "/assets?name=a-0+rocm6.2torch2.5-cp311-cp311-linux_x86_64.whl: ";
        let waits = play.waits.lock().unwrap().clone();
        let lines: Vec<&String> = waits.iter().filter(|line| line.contains("502")).collect();
        assert_eq!(lines.len(), wait_count, "{waits:?}");
        for (line, attempt) in lines.iter().zip(2..) {
            let end = match attempt {
                // The last wait precedes no attempt.
                7 => "; continuing in 16 s".to_owned(),
                _ => format!("; attempt {attempt} of 6 in "),
            };
            assert!(
                line.contains(upload) && line.contains(&end),
                "{attempt}: {line}"
            );
        }
        match end {
            PublishResult::Done(_) => assert_eq!(wait_count, 1),
            PublishResult::Failed(error) => {
                assert!(error.to_string().contains(upload), "{error}");
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn lines_about_waits_do_not_contain_the_token() {
    for rule in [
        "list-releases#1=echo-token:503",
        "create-release#1=echo-token:502",
        "upload#1=echo-token:503",
    ] {
        let play = play(GithubSettings::default(), &[rule]);
        let files = Files::of(1, 1);
        assert!(
            matches!(
                play.publish(&files, &files.desired_release(1), PublishPolicy::default()),
                PublishResult::Done(_)
            ),
            "{rule}"
        );
        let waits = play.waits.lock().unwrap().join("\n");
        assert!(
            waits.contains("`Authorization: Bearer ***`") && !waits.contains("writer"),
            "{rule}: {waits}"
        );
    }
}

#[test]
fn calls_that_must_wait_hold_uploads_and_reads_as_well() {
    for rule in [
        "list-assets#1=retry-after:429:90",
        "create-release#1=secondary:403",
        "edit-release#1=limit:403:50",
    ] {
        let play = play(GithubSettings::default(), &[rule]);
        let files = Files::of(3, 1);
        assert!(
            matches!(
                play.publish(&files, &files.desired_release(1), PublishPolicy::default()),
                PublishResult::Done(_)
            ),
            "{rule}"
        );
        assert!(
            play.seconds() >= 50 && complaints(&play).is_empty(),
            "{rule}: {:?}",
            complaints(&play)
        );
    }
}

#[test]
fn a_limit_that_does_not_end_is_reported_as_one_after_few_tries() {
    let play = play(GithubSettings::default(), &["upload=retry-after:429:60"]);
    let files = Files::of(120, 1);
    let end = play.publish(&files, &files.desired_release(1), PublishPolicy::default());
    let PublishResult::Failed(error @ GithubError::Limited { .. }) = end else {
        panic!("{end:?}")
    };
    assert!(
        error
            .to_string()
            .contains("accepts no more requests for now"),
        "{error}"
    );
    assert!(
        request_count(&play, ApiOperation::Upload) <= 12,
        "{}",
        request_count(&play, ApiOperation::Upload)
    );
    assert!(complaints(&play).is_empty());
}

#[test]
fn a_token_that_is_refused_ends_all_uploads() {
    for rule in ["upload=bad-credentials", "upload=no-right", "upload=hidden"] {
        let play = play(GithubSettings::default(), &[rule]);
        let files = Files::of(120, 1);
        let end = play.publish(&files, &files.desired_release(1), PublishPolicy::default());
        assert!(
            matches!(end, PublishResult::Failed(GithubError::Status { .. })),
            "{end:?}"
        );
        assert_eq!(request_count(&play, ApiOperation::Upload), 1, "{rule}");
    }
}

#[test]
fn what_arrived_beside_a_final_error_is_known() {
    let play = play(GithubSettings::default(), &["upload#3=bad-credentials"]);
    let files = Files::of(20, 1);
    let applied = play
        .run(&files, &files.desired_release(1), PublishPolicy::default())
        .unwrap();
    assert!(matches!(applied.end, PublishResult::Failed(_)));
    let known: usize = applied
        .releases
        .iter()
        .map(|release| release.assets.len())
        .sum();
    assert_eq!((known, request_count(&play, ApiOperation::Upload)), (2, 3));
}

#[test]
fn uploads_begin_no_faster_than_github_takes_them() {
    for (count, hours) in [(120, 1), (600, 5)] {
        let mut play = play(GithubSettings::default().with_real_limits(), &[]);
        Arc::get_mut(&mut play).unwrap().time = Duration::from_hours(hours);
        let files = Files::of(count, 1);
        assert!(
            matches!(
                play.publish(&files, &files.desired_release(1), PublishPolicy::default()),
                PublishResult::Done(_)
            ),
            "{count}"
        );
        assert_eq!(
            play.github().ledger.times(ReachedState::Limited),
            0,
            "{count}"
        );
        let longest_s = if count == 120 { 120 } else { 2 * 3600 };
        assert!(
            (60..longest_s).contains(&play.seconds()),
            "{count}: {} s",
            play.seconds()
        );
    }
}

#[test]
fn a_wait_beyond_the_deadline_is_not_begun() {
    let mut play = play(GithubSettings::default(), &["upload#2=retry-after:429:600"]);
    Arc::get_mut(&mut play).unwrap().time = Duration::from_mins(5);
    let files = Files::of(5, 1);
    let end = play.publish(&files, &files.desired_release(1), PublishPolicy::default());
    let PublishResult::Failed(error @ GithubError::Deadline { .. }) = end else {
        panic!("{end:?}")
    };
    assert!(
        error
            .to_string()
            .contains("600 seconds would exceed the time limit"),
        "{error}"
    );
    assert!(play.seconds() < 60);
}

#[test]
fn only_files_whose_turn_has_come_are_open() {
    let play = play(
        GithubSettings::default(),
        &["upload#9=cut:3", "upload#12=retry-after:429:5"],
    );
    let files = Files {
        at_once: 3,
        is_read_beside: true,
        ..Files::of(60, 1)
    };
    assert!(matches!(
        play.publish(&files, &files.desired_release(1), PublishPolicy::default()),
        PublishResult::Done(_)
    ));
    assert!(
        (1..=3).contains(&files.most_open()),
        "{}",
        files.most_open()
    );
}

#[test]
fn an_upload_that_is_answered_with_a_page_is_looked_at_and_not_given_up() {
    let play = play(GithubSettings::default(), &["upload#1=garbled"]);
    let files = Files::of(2, 1);
    assert!(matches!(
        play.publish(&files, &files.desired_release(1), PublishPolicy::default()),
        PublishResult::Done(_)
    ));
}

#[test]
fn a_corrupted_upload_is_reported_and_deleted() {
    for (rule, text) in [
        ("upload#1=short", " bytes, sha256:"),
        ("upload#1=wrong-digest", " bytes, sha256:0000"),
    ] {
        let play = play(GithubSettings::default(), &[rule]);
        let files = Files::of(1, 1);
        let run = play
            .run(&files, &files.desired_release(1), PublishPolicy::default())
            .unwrap();
        assert_eq!(run.end, PublishResult::Incomplete);
        let errors: Vec<_> = run.failed_files.values().collect();
        let [error] = errors[..] else {
            panic!("{errors:?}")
        };
        let GithubError::StoredWithOtherContent { found, .. } = error else {
            panic!("{error}")
        };
        assert!(found.contains(text), "{error}");
        assert_eq!(
            play.releases()[0].assets.len(),
            0,
            "{rule}: nor are its sums sent"
        );
    }
}

/// The release of another run that was killed right after it made its draft.
fn killed_after_create(play: &Play) {
    let request = ApiRequest::complete(
        "POST",
        "https://api.test/repos/me/wheels/releases",
        "writer",
    );
    let body = serde_json::json!({
        "tag_name": "v1", "draft": true, "body": "what is new\n<!-- rock-matrix draft nonce0 -->\n",
    });
    let now_ms = play.now_ms.load(Ordering::Relaxed);
    assert_eq!(
        play.github().handle(&request.json(&body), now_ms).status,
        201
    );
}

#[test]
fn a_draft_that_the_listing_did_not_have_yet_is_seen_before_anything_is_published() {
    for lag_ms in [500, 3000, 20_000] {
        let play = play(
            GithubSettings {
                listing: ListingMode::Late(lag_ms),
                ..GithubSettings::default()
            },
            &[],
        );
        killed_after_create(&play);
        play.pass(100);
        let files = Files::of(2, 1);
        let end = play.publish(&files, &files.desired_release(1), PublishPolicy::default());
        let releases = play.releases();
        let public = releases.iter().filter(|release| !release.draft).count();
        assert!(
            releases.len() == 1 || public == 0,
            "lag {lag_ms}: {end:?} with {} releases",
            releases.len()
        );
        // The draft that it deleted is listed for a while.
        assert!(
            lag_ms > 3000 || matches!(end, PublishResult::Done(_)),
            "lag {lag_ms}: {end:?}"
        );
    }
}

/// A repository with many releases that are not the desired one, each with an asset.
pub fn crowd(play: &Play, count: u64) {
    let mut github = play.github();
    let releases = &mut github.repository_mut("me/wheels").releases;
    for at in 0..count {
        let asset = StoredAsset {
            id: 900_000 + at,
            name: format!("other-{at}"),
            is_uploaded: true,
            ..StoredAsset::default()
        };
        let release = StoredRelease {
            id: 500_000 + at,
            tag_name: format!("other-{at}"),
            body: Some("a long text".repeat(20)),
            assets: vec![Arc::new(asset)],
            ..StoredRelease::default()
        };
        releases.insert(release.id, Arc::new(release));
    }
}

#[test]
fn releases_of_others_are_listed_page_by_page_and_not_looked_into() {
    let play = play(GithubSettings::default(), &[]);
    crowd(&play, 350);
    let files = Files::of(2, 1);
    let applied = play
        .run(&files, &files.desired_release(1), PublishPolicy::default())
        .unwrap();
    assert!(
        matches!(applied.end, PublishResult::Done(_)),
        "{:?}",
        applied.end
    );
    assert!(
        request_count(&play, ApiOperation::ListAssets) <= 3,
        "{}",
        request_count(&play, ApiOperation::ListAssets)
    );
    assert_eq!(
        request_count(&play, ApiOperation::ListReleases) % 4,
        0,
        "four pages each time"
    );
    assert_eq!(applied.releases.len(), 351);
    let others = applied
        .releases
        .iter()
        .filter(|release| release.tag_name != "v1");
    assert_eq!(
        others
            .filter(|release| release.body.is_some() || !release.assets.is_empty())
            .count(),
        0
    );
    let before = play.github().ledger.requests.len();
    assert!(matches!(
        play.publish(&files, &files.desired_release(2), PublishPolicy::default()),
        PublishResult::Done(_)
    ));
    assert_eq!(
        play.github().ledger.requests.len() - before,
        5,
        "four pages of releases, one of assets"
    );
}

#[test]
fn a_listing_is_followed_for_fifty_pages_and_to_no_other_host() {
    let crowded = play(GithubSettings::default(), &[]);
    crowd(&crowded, 5001);
    let files = Files::of(1, 1);
    let end = crowded.publish(&files, &files.desired_release(1), PublishPolicy::default());
    let PublishResult::Failed(GithubError::Malformed { reason, .. }) = end else {
        panic!("{end:?}")
    };
    assert!(reason.contains("50 pages"), "{reason}");
    let led = play(
        GithubSettings::default(),
        &["list-releases#2=next-elsewhere"],
    );
    crowd(&led, 350);
    let end = led.publish(&files, &files.desired_release(1), PublishPolicy::default());
    assert!(
        matches!(end, PublishResult::Failed(GithubError::Api(_))),
        "{end:?}"
    );
    let github = led.github();
    assert_eq!((github.ledger.leaks, github.ledger.requests.len()), (0, 2));
}

/// A draft with one asset, and its number.
fn with_asset(play: &Play, bytes: &[u8]) -> u64 {
    let hex = Digest::new(Sha256::digest(bytes).into()).to_hex();
    let asset = StoredAsset {
        id: 77,
        name: "a".to_owned(),
        is_uploaded: true,
        size_bytes: bytes.len() as u64,
        sha256: Some(hex),
        content: Some(Arc::from(bytes)),
        ..StoredAsset::default()
    };
    let release = StoredRelease {
        id: 7,
        tag_name: "v1".to_owned(),
        assets: vec![Arc::new(asset)],
        ..StoredRelease::default()
    };
    play.github()
        .repository_mut("me/wheels")
        .releases
        .insert(7, Arc::new(release));
    77
}

#[test]
fn a_download_that_fails_begins_again_and_the_other_host_sees_no_token() {
    for rule in [
        "get-asset#1=502",
        "get-asset#1=cut:0",
        "get-asset#1=retry-after:429:30",
        "storage#1=503",
        "storage#1=mute:3",
        "storage#2=mute:0",
    ] {
        let play = play(
            GithubSettings {
                digests: DigestMode::Null,
                ..GithubSettings::default()
            },
            &[rule],
        );
        let id = with_asset(&play, b"some bytes");
        assert_eq!(
            play.client().hash(id),
            Ok((Digest::new(Sha256::digest(b"some bytes").into()), 10)),
            "{rule}"
        );
        assert_eq!(
            (complaints(&play).len(), play.github().ledger.leaks),
            (0, 0),
            "{rule}"
        );
    }
    let play = play(GithubSettings::default(), &["storage=503"]);
    let id = with_asset(&play, b"some bytes");
    let error = play.client().hash(id).unwrap_err();
    assert!(
        matches!(&error, GithubError::ServerError { reason, .. } if reason.contains("503")),
        "{error}"
    );
    assert_eq!(request_count(&play, ApiOperation::GetAsset), 6);
}

#[test]
fn a_document_of_another_size_or_without_end_is_not_taken() {
    const MOST: u64 = 4096;
    let listed = |id, size| ListedAsset {
        id,
        name: "a".to_owned(),
        size,
        ..ListedAsset::default()
    };
    let fair = play(GithubSettings::default(), &[]);
    let id = with_asset(&fair, b"some bytes");
    assert_eq!(
        fair.client().document(&listed(id, 10), MOST),
        Ok(b"some bytes".to_vec())
    );
    assert!(matches!(
        fair.client().document(&listed(id, 9), MOST),
        Err(GithubError::Malformed { .. })
    ));
    let long = play(GithubSettings::default(), &[]);
    let id = with_asset(&long, &vec![7; 4097]);
    let error = long.client().document(&listed(id, 4097), MOST).unwrap_err();
    assert!(
        error.to_string().contains("larger than permitted"),
        "{error}"
    );
}

/// A client over sockets with this much time.
fn client(server: &FakeServer, time: Duration) -> ReleaseClient {
    let calls = CallOptions {
        api: server.url().parse::<ApiEndpoint>().unwrap(),
        token: Token::new("writer"),
        transport: Arc::new(HttpClient::new(ProxySettings::default())),
        clock: Arc::new(SystemClock::default()),
        rates: RateLimits::of(&Compat::embedded()),
        time,
        stop: Box::new(|| false),
        on_wait: Box::new(|_| {}),
        on_reply: Box::new(|_, _, _| {}),
    };
    ReleaseClient::new("me/wheels".parse().unwrap(), calls).unwrap()
}

#[test]
fn what_stalls_ends_with_the_deadline() {
    let mut github = FakeGithub::new(GithubSettings::default());
    for rule in ["storage=stall:3", "list-releases=stall:1"] {
        github.faults.add(rule.parse::<FaultRule>().unwrap());
    }
    let play = Play::of(github.clone(), 1);
    with_asset(&play, b"some bytes");
    github = play.github().clone();
    let server = FakeServer::start(github);
    let begun = Instant::now();
    let time = Duration::from_millis(700);
    let error = client(&server, time).hash(77).unwrap_err();
    assert!(matches!(error, GithubError::Deadline { .. }), "{error}");
    let error = client(&server, time).releases(|_| true).unwrap_err();
    assert!(matches!(error, GithubError::Deadline { .. }), "{error}");
    assert!(begun.elapsed() < Duration::from_mins(1));
}

#[test]
fn files_go_with_their_type_and_their_exact_length() {
    let play = play(GithubSettings::default(), &[]);
    let mut files = Files::of(1, 1);
    files
        .bytes
        .insert("rock-manifest.json".to_owned(), b"{}".to_vec());
    assert!(matches!(
        play.publish(&files, &files.desired_release(1), PublishPolicy::default()),
        PublishResult::Done(_)
    ));
    let github = play.github();
    let sent: BTreeSet<(String, u64)> = github
        .ledger
        .requests
        .iter()
        .filter(|request| request.operation == ApiOperation::Upload)
        .map(|request| {
            let header = |name: &str| {
                request
                    .headers
                    .iter()
                    .find(|(key, _)| key == name)
                    .map(|(_, value)| value.clone())
            };
            assert_eq!(header("transfer-encoding"), None);
            (
                header("content-type").unwrap(),
                header("content-length").unwrap().parse().unwrap(),
            )
        })
        .collect();
    let wanted = [
        ("application/json", 2),
        ("application/octet-stream", 12),
        ("text/plain", 9),
    ];
    assert_eq!(
        sent,
        wanted
            .map(|(kind, size)| (kind.to_owned(), size))
            .into_iter()
            .collect()
    );
}

#[test]
fn a_full_release_is_reported_once_and_ends_uploads() {
    let play = play(
        GithubSettings {
            assets_per_release: 4,
            ..GithubSettings::default()
        },
        &[],
    );
    let files = Files::of(12, 1);
    let end = play.publish(&files, &files.desired_release(1), PublishPolicy::default());
    let PublishResult::Failed(GithubError::Status {
        status: 422,
        message,
        ..
    }) = &end
    else {
        panic!("{end:?}")
    };
    assert!(message.contains("file_count limited to 4"), "{message}");
    let count = request_count(&play, ApiOperation::Upload);
    assert!(
        (5..=6).contains(&count),
        "{count}: as many more as are sent at once"
    );
}
