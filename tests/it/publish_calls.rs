//! The calls of a publish, in their order: what is asked first, what is sent again and what never,
//! and what they say. The clock is part of the play.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use rock_matrix::github::{GithubError, PublishResult};
use rock_matrix::names::Digest;
use rock_matrix::publish::remote::{MakeLatest, PublishPolicy, ReleaseRefusal};

use crate::publish_waits::{complaints, crowd, play, request_count};
use crate::support::play::{Files, Play};
use fake_github::model::{
    ApiOperation, DigestMode, GithubSettings, ListingMode, LoggedRequest, ReachedState,
    StoredAsset, StoredRelease,
};

fn log(play: &Play) -> Vec<LoggedRequest> {
    play.github().ledger.requests.clone()
}

fn operations(play: &Play) -> Vec<ApiOperation> {
    log(play).iter().map(|request| request.operation).collect()
}

fn draft(id: u64) -> StoredRelease {
    StoredRelease {
        id,
        tag_name: "v1".to_owned(),
        draft: true,
        ..StoredRelease::default()
    }
}

fn put(play: &Play, release: StoredRelease) {
    play.github()
        .repository_mut("me/wheels")
        .releases
        .insert(release.id, Arc::new(release));
}

/// Changes an asset behind the program's back.
fn change(play: &Play, name: &str, with: impl Fn(&mut StoredAsset)) {
    for release in play
        .github()
        .repository_mut("me/wheels")
        .releases
        .values_mut()
    {
        for asset in Arc::make_mut(release)
            .assets
            .iter_mut()
            .filter(|asset| asset.name == name)
        {
            with(Arc::make_mut(asset));
        }
    }
}

#[test]
fn a_draft_is_found_on_the_last_page_and_not_by_its_tag() {
    let play = play(GithubSettings::default(), &[]);
    crowd(&play, 250);
    put(&play, draft(5));
    let files = Files::of(2, 1);
    assert!(matches!(
        play.publish(&files, &files.desired_release(1), PublishPolicy::default()),
        PublishResult::Done(_)
    ));
    let of_tag: Vec<u64> = play
        .releases()
        .iter()
        .filter(|release| release.tag_name == "v1")
        .map(|release| release.id)
        .collect();
    assert_eq!(of_tag, [5]);
    assert_eq!(
        (
            request_count(&play, ApiOperation::CreateRelease),
            request_count(&play, ApiOperation::ReleaseByTag)
        ),
        (0, 0)
    );
    let first = &log(&play)[0];
    assert!(
        first
            .url
            .ends_with("/repos/me/wheels/releases?per_page=100"),
        "{}",
        first.url
    );
}

#[test]
fn a_draft_that_was_made_is_used_by_its_number_while_lists_do_not_have_it() {
    let play = play(
        GithubSettings {
            listing: ListingMode::Late(600_000),
            ..GithubSettings::default()
        },
        &[],
    );
    let files = Files::of(3, 1);
    assert!(matches!(
        play.publish(&files, &files.desired_release(1), PublishPolicy::default()),
        PublishResult::Done(_)
    ));
    let [release] = &play.releases()[..] else {
        panic!("one release")
    };
    assert!(!release.draft && release.assets.len() == 4);
    let made = log(&play)
        .into_iter()
        .find(|request| request.operation == ApiOperation::CreateRelease)
        .unwrap();
    assert_eq!(
        (&made.json["draft"], &made.json["tag_name"]),
        (&true.into(), &"v1".into())
    );
    assert_eq!(request_count(&play, ApiOperation::ReleaseByTag), 0);
}

#[test]
fn of_several_releases_of_a_tag_the_public_one_is_used_then_the_one_with_files_then_the_oldest() {
    let full = |id| StoredRelease {
        assets: vec![Arc::new(StoredAsset {
            id: id * 10,
            name: "of-others".to_owned(),
            ..StoredAsset::default()
        })],
        ..draft(id)
    };
    let public = StoredRelease {
        draft: false,
        ..draft(9)
    };
    for (releases, used) in [
        (vec![draft(3), public], 9),
        (vec![draft(3), full(9)], 9),
        (vec![draft(3), draft(9)], 3),
    ] {
        let play = play(GithubSettings::default(), &[]);
        for release in releases {
            put(&play, release);
        }
        let files = Files::of(1, 1);
        let allowed = PublishPolicy {
            published: true,
            ..PublishPolicy::default()
        };
        let end = play.publish(&files, &files.desired_release(1), allowed);
        let PublishResult::Refused(refused) = end else {
            panic!("{end:?}")
        };
        let [ReleaseRefusal::Duplicates { releases, .. }] = &refused[..] else {
            panic!("{refused:?}")
        };
        assert_eq!(
            releases.iter().map(|(id, _)| *id).min(),
            Some(3),
            "all are reported, the used one first"
        );
        assert_eq!((releases[0].0, play.github().ledger.writes()), (used, 0));
        let allowed = PublishPolicy {
            clean_duplicates: true,
            ..allowed
        };
        assert_eq!(
            play.publish(&files, &files.desired_release(2), allowed),
            PublishResult::Done(vec![used])
        );
    }
}

#[test]
fn assets_without_a_digest_are_fetched_and_hashed_on_request() {
    let play = play(
        GithubSettings {
            digests: DigestMode::Null,
            ..GithubSettings::default()
        },
        &[],
    );
    let files = Files::of(2, 1);
    let full = PublishPolicy {
        fetch_to_verify: true,
        ..PublishPolicy::default()
    };
    assert!(matches!(
        play.publish(&files, &files.desired_release(1), full),
        PublishResult::Done(_)
    ));
    assert_eq!(
        request_count(&play, ApiOperation::Storage),
        3,
        "each was fetched once"
    );
    let name = "a-0+rocm6.2torch2.5-cp311-cp311-linux_x86_64.whl";
    change(&play, name, |asset| {
        asset.content = Some(b"wheel X of 1".to_vec().into());
    });
    assert!(
        matches!(
            play.publish(&files, &files.desired_release(2), PublishPolicy::default()),
            PublishResult::Done(_)
        ),
        "the size is the same"
    );
    let before = play.github().ledger.writes();
    let end = play.publish(&files, &files.desired_release(3), full);
    let PublishResult::Refused(refused) = end else {
        panic!("{end:?}")
    };
    assert!(
        matches!(&refused[..], [ReleaseRefusal::Differs { name: found, .. }] if found == name),
        "{refused:?}"
    );
    assert_eq!(play.github().ledger.writes(), before, "nothing is written");
}

#[test]
fn a_file_that_was_stored_under_another_name_is_deleted_and_the_publish_fails() {
    let play = play(GithubSettings::default(), &["upload#1=wrong-name"]);
    let files = Files::of(1, 1);
    let run = play
        .run(&files, &files.desired_release(1), PublishPolicy::default())
        .unwrap();
    assert_eq!(run.end, PublishResult::Incomplete);
    assert!(
        matches!(
            run.failed_files.values().next(),
            Some(GithubError::StoredUnderOtherName { .. })
        ),
        "{:?}",
        run.failed_files
    );
    let [release] = &play.releases()[..] else {
        panic!("one release")
    };
    let names: Vec<&str> = release
        .assets
        .iter()
        .map(|asset| asset.name.as_str())
        .collect();
    assert_eq!(
        (names.len(), release.draft),
        (0, true),
        "{names:?}: nor are its sums sent"
    );
}

#[test]
fn before_a_file_is_sent_again_the_assets_are_listed_and_what_is_left_of_it_is_deleted() {
    let play = play(GithubSettings::default(), &["upload#1=502"]);
    let files = Files {
        at_once: 1,
        ..Files::of(1, 1)
    };
    assert!(matches!(
        play.publish(&files, &files.desired_release(1), PublishPolicy::default()),
        PublishResult::Done(_)
    ));
    let all = operations(&play);
    let first = all
        .iter()
        .position(|operation| *operation == ApiOperation::Upload)
        .unwrap();
    let second = first
        + 1
        + all[first + 1..]
            .iter()
            .position(|operation| *operation == ApiOperation::Upload)
            .unwrap();
    let between = [
        ApiOperation::ListReleases,
        ApiOperation::ListAssets,
        ApiOperation::DeleteAsset,
    ];
    assert_eq!(all[first + 1..second], between);
    assert_eq!(play.github().ledger.times(ReachedState::StarterDeleted), 1);
}

#[test]
fn a_name_that_is_taken_by_the_same_bytes_is_a_success() {
    let late = GithubSettings {
        listing: ListingMode::Late(9_000),
        ..GithubSettings::default()
    };
    let play = play(late, &["upload#1=done:502"]);
    let files = Files {
        at_once: 1,
        ..Files::of(1, 1)
    };
    assert!(matches!(
        play.publish(&files, &files.desired_release(1), PublishPolicy::default()),
        PublishResult::Done(_)
    ));
    let github = play.github();
    assert!(
        github.ledger.times(ReachedState::NameTaken) > 0,
        "it was sent again, and its name was taken"
    );
    let deleted = github.ledger.times(ReachedState::AssetDeleted)
        + github.ledger.times(ReachedState::StarterDeleted);
    assert_eq!(
        (github.ledger.times(ReachedState::Uploaded), deleted),
        (2, 0),
        "what came through stays"
    );
}

#[test]
fn a_draft_whose_answer_was_lost_is_looked_for_and_not_made_again() {
    for rule in [
        "create-release#1=done:502",
        "create-release#1=mute:0",
        "create-release#1=mute:20",
    ] {
        let play = play(
            GithubSettings {
                listing: ListingMode::Late(3_000),
                ..GithubSettings::default()
            },
            &[rule],
        );
        let files = Files::of(1, 1);
        assert!(
            matches!(
                play.publish(&files, &files.desired_release(1), PublishPolicy::default()),
                PublishResult::Done(_)
            ),
            "{rule}"
        );
        assert_eq!(
            (
                request_count(&play, ApiOperation::CreateRelease),
                play.releases().len()
            ),
            (1, 1),
            "{rule}"
        );
    }
}

#[test]
fn what_github_refuses_for_good_is_sent_once() {
    for rule in [
        "bad-credentials",
        "hidden",
        "413",
        "tag-ruleset:422",
        "no-right",
        "451",
    ] {
        let play = play(
            GithubSettings::default(),
            &[&format!("create-release={rule}")],
        );
        let files = Files::of(2, 1);
        let end = play.publish(&files, &files.desired_release(1), PublishPolicy::default());
        assert!(
            matches!(end, PublishResult::Failed(GithubError::Status { .. })),
            "{rule}: {end:?}"
        );
        assert_eq!(
            (
                request_count(&play, ApiOperation::CreateRelease),
                request_count(&play, ApiOperation::Upload)
            ),
            (1, 0),
            "{rule}"
        );
    }
}

/// The upload of one file ends the run; the error of another file is kept.
#[test]
fn a_file_that_failed_is_reported_whatever_ends_the_run() {
    let play = play(GithubSettings::default(), &["upload=502"]);
    let files = Files {
        at_once: 1,
        is_read_beside: true,
        ..Files::of(2, 1)
    };
    let mut desired = files.desired_release(1);
    let changed = desired
        .assets
        .iter_mut()
        .find(|file| file.name.starts_with("a-0"))
        .unwrap();
    changed.digest = Digest::new([9; 32]);
    let changed = changed.name.clone();
    let run = play
        .run(&files, &desired, PublishPolicy::default())
        .unwrap();
    let PublishResult::Failed(GithubError::UnknownOutcome { call, .. }) = &run.end else {
        panic!("{:?}", run.end)
    };
    assert!(call.contains("?name=a-1"), "{call}");
    assert_eq!(
        run.failed_files,
        BTreeMap::from([(
            changed.clone(),
            GithubError::FileChanged {
                path: format!("dist/{changed}"),
            }
        )])
    );
    assert_eq!(request_count(&play, ApiOperation::Upload), 6);
}

#[test]
fn a_call_is_made_six_times_at_most_within_the_deadline() {
    for (rule, operation) in [
        ("list-releases=503", ApiOperation::ListReleases),
        ("tag-ref=408", ApiOperation::TagRef),
        ("edit-release=500", ApiOperation::EditRelease),
        ("upload=504", ApiOperation::Upload),
    ] {
        let play = play(GithubSettings::default(), &[rule]);
        let files = Files {
            at_once: 1,
            ..Files::of(0, 1)
        };
        let end = match operation {
            ApiOperation::TagRef => {
                PublishResult::Failed(play.client().commit_of_tag("v1").unwrap_err())
            }
            _ => play.publish(&files, &files.desired_release(1), PublishPolicy::default()),
        };
        assert!(
            matches!(
                end,
                PublishResult::Failed(
                    GithubError::ServerError { .. } | GithubError::UnknownOutcome { .. }
                )
            ),
            "{end:?}"
        );
        assert_eq!(request_count(&play, operation), 6, "{rule}");
        assert!(
            play.seconds() <= 60,
            "{rule}: 1, 2, 4, 8 and 16 s at most, and what else is done: {}",
            play.seconds()
        );
    }
}

#[test]
fn writes_other_than_files_are_one_after_the_other_and_a_second_apart() {
    let play = play(
        GithubSettings::default(),
        &["upload#1=502", "upload#2=cut:3"],
    );
    let files = Files::of(4, 1);
    assert!(matches!(
        play.publish(&files, &files.desired_release(1), PublishPolicy::default()),
        PublishResult::Done(_)
    ));
    let is_short =
        |output: &LoggedRequest| output.method != "GET" && output.operation != ApiOperation::Upload;
    let times: Vec<u64> = log(&play)
        .iter()
        .filter(|output| is_short(output))
        .map(|output| output.at_ms)
        .collect();
    assert!(
        times.len() >= 4 && times.windows(2).all(|two| two[1] - two[0] >= 1000),
        "{times:?}"
    );
    assert_eq!(complaints(&play), Vec::<String>::new());
}

#[test]
fn one_call_writes_the_text_and_publishes_with_what_becomes_the_latest() {
    for (make_latest, word) in [
        (MakeLatest::Yes, "true"),
        (MakeLatest::No, "false"),
        (MakeLatest::Legacy, "legacy"),
    ] {
        let play = play(GithubSettings::default(), &[]);
        let files = Files::of(2, 1);
        let desired = rock_matrix::publish::remote::DesiredRelease {
            make_latest,
            ..files.desired_release(1)
        };
        assert!(matches!(
            play.publish(&files, &desired, PublishPolicy::default()),
            PublishResult::Done(_)
        ));
        let log = log(&play);
        let edits: Vec<&LoggedRequest> = log
            .iter()
            .filter(|request| request.operation == ApiOperation::EditRelease)
            .collect();
        let [public] = edits[..] else {
            panic!("{edits:?}")
        };
        let json = serde_json::json!({"body": "what is new", "draft": false, "make_latest": word});
        assert_eq!(
            public.json, json,
            "until then the text says which program made the draft"
        );
        assert_eq!(
            log.iter()
                .filter(|request| !request.json["make_latest"].is_null())
                .count(),
            1
        );
        let last_file = log
            .iter()
            .rposition(|request| request.operation == ApiOperation::Upload)
            .unwrap();
        assert!(
            log[last_file].number < public.number,
            "all files are there by then"
        );
    }
}

#[test]
fn each_call_names_the_version_of_the_api_and_who_calls() {
    let play = play(
        GithubSettings {
            digests: DigestMode::Null,
            ..GithubSettings::default()
        },
        &[],
    );
    let files = Files::of(1, 1);
    let full = PublishPolicy {
        fetch_to_verify: true,
        ..PublishPolicy::default()
    };
    assert!(matches!(
        play.publish(&files, &files.desired_release(1), full),
        PublishResult::Done(_)
    ));
    for request in log(&play) {
        let header = |name: &str| {
            request
                .headers
                .iter()
                .find(|(key, _)| key == name)
                .map(|(_, value)| value.as_str())
        };
        assert_eq!(
            header("x-github-api-version"),
            Some("2022-11-28"),
            "{}",
            request.url
        );
        assert_eq!(
            header("user-agent"),
            Some(concat!("rock-matrix/", env!("CARGO_PKG_VERSION"))),
            "{}",
            request.url
        );
        let is_file = matches!(
            request.operation,
            ApiOperation::GetAsset | ApiOperation::Storage
        );
        let accept = if is_file {
            "application/octet-stream"
        } else {
            "application/vnd.github+json"
        };
        assert_eq!(header("accept"), Some(accept), "{}", request.url);
        let has_token = header("authorization").is_some();
        assert_eq!(
            has_token,
            request.operation != ApiOperation::Storage,
            "{}",
            request.url
        );
    }
}

#[test]
fn what_a_full_release_does_not_take_goes_to_a_second_one_that_grows() {
    let mut play = play(GithubSettings::default(), &[]);
    Arc::get_mut(&mut play).unwrap().time = Duration::from_hours(9);
    let counts = |play: &Play| -> Vec<(String, usize, bool)> {
        play.releases()
            .iter()
            .map(|found| (found.tag_name.clone(), found.assets.len(), found.draft))
            .collect()
    };
    let row = |tag: &str, count, is_draft| (tag.to_owned(), count, is_draft);
    let files = Files::of(1001, 1);
    assert!(matches!(
        play.publish(&files, &files.desired_release(1), PublishPolicy::default()),
        PublishResult::Done(_)
    ));
    assert_eq!(
        counts(&play),
        [row("v1", 991, false), row("v1-2", 11, false)]
    );
    let published = log(&play).len();
    let more = Files::of(1004, 1);
    let end = play.publish(&more, &more.desired_release(2), PublishPolicy::default());
    assert!(
        matches!(&end, PublishResult::Refused(refused) if matches!(&refused[..], [ReleaseRefusal::Published { changed_files: 3, .. }])),
        "{end:?}"
    );
    let allowed = PublishPolicy {
        published: true,
        ..PublishPolicy::default()
    };
    assert!(matches!(
        play.publish(&more, &more.desired_release(3), allowed),
        PublishResult::Done(_)
    ));
    assert_eq!(
        counts(&play),
        [row("v1", 991, false), row("v1-2", 14, false)]
    );
    assert!(
        log(&play)[published..]
            .iter()
            .all(|request| request.json.is_null()),
        "nothing is published a second time"
    );
    let before = play.github().ledger.writes();
    assert!(matches!(
        play.publish(&more, &more.desired_release(4), PublishPolicy::default()),
        PublishResult::Done(_)
    ));
    assert_eq!(play.github().ledger.writes(), before);
}
