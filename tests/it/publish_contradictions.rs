//! Files that GitHub stores otherwise than it was sent them: nothing of that becomes public, and
//! the next run puts it right.

use std::sync::Arc;

use rock_matrix::diagnostic::Diagnostic;
use rock_matrix::diagnostic::render::human;
use rock_matrix::github::{GithubError, HttpBody, PublishResult, ResponseFuture, Transport};
use rock_matrix::publish::remote::{PublishPolicy, ReleaseRefusal};
use serde_json::Value;

use crate::publish_waits::{play, request_count};
use crate::support::play::{Files, Play, Stage, run_over};
use crate::support::{Outcome, Project, Wheel};
use fake_github::model::{
    ApiOperation, DigestMode, FakeGithub, FaultRule, FaultSchedule, GithubSettings, ListingMode,
    StoredAsset, StoredRelease,
};
use fake_github::server::FakeServer;

const WHEEL: &str = "flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl";

/// What ended a publish.
fn error_of(end: PublishResult) -> GithubError {
    let PublishResult::Failed(error) = end else {
        panic!("{end:?}")
    };
    error
}

/// A listing that shows a file otherwise than its upload was answered keeps the release from
/// becoming public.
#[test]
fn a_listing_that_contradicts_an_upload_stops_before_publishing() {
    for fault in ["later-digest", "later-size", "later-starter", "later-name"] {
        let play = play(GithubSettings::default(), &[&format!("upload#2={fault}")]);
        let files = Files::of(3, 1);
        let error =
            error_of(play.publish(&files, &files.desired_release(1), PublishPolicy::default()));
        assert!(
            matches!(error, GithubError::Contradicted(_)),
            "{fault}: {error}"
        );
        assert!(
            play.releases().iter().all(|release| release.draft),
            "{fault}: nobody sees it"
        );
        assert_eq!(
            request_count(&play, ApiOperation::EditRelease),
            0,
            "{fault}"
        );
        // The next run goes by the list.
        play.pass(60_000);
        let end = play.publish(&files, &files.desired_release(2), PublishPolicy::default());
        let [release] = &play.releases()[..] else {
            panic!("{fault}: one release")
        };
        assert!(
            matches!(end, PublishResult::Done(_)) && !release.draft,
            "{fault}: {end:?}"
        );
        assert!(files.are_in(&release.assets, true), "{fault}");
    }
}

/// The refusal tells what was answered and what is listed.
#[test]
fn a_contradiction_shows_both_sides() {
    let play = play(GithubSettings::default(), &["upload#1=later-size"]);
    let files = Files {
        at_once: 1,
        ..Files::of(1, 1)
    };
    let error = error_of(play.publish(&files, &files.desired_release(1), PublishPolicy::default()));
    insta::assert_snapshot!(human(&[Diagnostic::from(error)], false), @r#"
    error[G320 listing-contradicts]: GitHub's listing of `a-0+rocm6.2torch2.5-cp311-cp311-linux_x86_64.whl` contradicts its response to the upload
    --> a-0+rocm6.2torch2.5-cp311-cp311-linux_x86_64.whl
     = note: response: `a-0+rocm6.2torch2.5-cp311-cp311-linux_x86_64.whl`, uploaded, 12 bytes, sha256:58546d0be58557dac87b864bb2097aba156f8a4cb22d6de74a64f4d4ebcfc855
     = note: listing: `a-0+rocm6.2torch2.5-cp311-cp311-linux_x86_64.whl`, uploaded, 1 byte, sha256:58546d0be58557dac87b864bb2097aba156f8a4cb22d6de74a64f4d4ebcfc855
    help: run the same command again: it deletes the file from the draft and uploads it again
    "#);
}

/// A published file gives way to another only when the list shows the other as it was sent.
#[test]
fn a_published_file_stays_until_its_replacement_is_listed_right() {
    for fault in ["later-digest", "later-size", "later-starter", "later-name"] {
        let play = play(GithubSettings::default(), &[]);
        let (old, new) = (Files::of(1, 1), Files::of(1, 2));
        assert!(matches!(
            play.publish(&old, &old.desired_release(1), PublishPolicy::default()),
            PublishResult::Done(_)
        ));
        play.github().faults =
            FaultSchedule::by_rule([format!("upload#1={fault}").parse::<FaultRule>().unwrap()]);
        let allowed = PublishPolicy {
            replace: true,
            published: true,
            ..PublishPolicy::default()
        };
        let error = error_of(play.publish(&new, &new.desired_release(2), allowed));
        assert!(
            matches!(error, GithubError::Contradicted(_)),
            "{fault}: {error}"
        );
        assert_eq!(
            request_count(&play, ApiOperation::DeleteAsset),
            0,
            "{fault}"
        );
    }
}

/// A list that lacks a file is waited for, in a draft whose making was not heard of, too.
#[test]
fn a_lagging_list_is_waited_for_in_every_draft() {
    let settings = GithubSettings {
        listing: ListingMode::Late(3000),
        ..GithubSettings::default()
    };
    let play = play(
        settings,
        &["create-release#1=mute:0", "upload#1=later-starter"],
    );
    let files = Files::of(1, 1);
    let error = error_of(play.publish(&files, &files.desired_release(1), PublishPolicy::default()));
    assert!(matches!(error, GithubError::Contradicted(_)), "{error}");
    assert!(play.releases().iter().all(|release| release.draft));
}

/// A page for people that comes in place of a file is not taken for its bytes.
#[test]
fn a_page_in_place_of_a_file_is_not_hashed() {
    let settings = GithubSettings {
        digests: DigestMode::Null,
        ..GithubSettings::default()
    };
    let play = play(settings, &["edit-release=no-right"]);
    let files = Files::of(2, 1);
    error_of(play.publish(&files, &files.desired_release(1), PublishPolicy::default()));
    let sent = request_count(&play, ApiOperation::Upload);
    play.github().faults =
        FaultSchedule::by_rule(["get-asset#1=garbled".parse::<FaultRule>().unwrap()]);
    let allowed = PublishPolicy {
        fetch_to_verify: true,
        ..PublishPolicy::default()
    };
    assert!(matches!(
        play.publish(&files, &files.desired_release(2), allowed),
        PublishResult::Done(_)
    ));
    assert_eq!(
        request_count(&play, ApiOperation::Upload),
        sent,
        "nothing is sent again"
    );
}

/// Replaces each file that arrives by one of its own: another run that publishes other wheels at
/// the same time.
struct Rival(Arc<Play>);

impl Transport for Rival {
    fn send(&self, request: http::Request<HttpBody>) -> ResponseFuture<'_> {
        let is_upload =
            request.method() == http::Method::POST && request.uri().path().ends_with("/assets");
        Box::pin(async move {
            let answer = Stage(Arc::clone(&self.0)).send(request).await;
            if is_upload {
                replace_all(&mut self.0.github());
            }
            answer
        })
    }
}

/// Gives every asset of the draft another number and other bytes.
fn replace_all(github: &mut FakeGithub) {
    let release = github
        .repository_mut("me/wheels")
        .releases
        .values_mut()
        .next()
        .unwrap();
    for asset in &mut Arc::make_mut(release).assets {
        let asset: &mut StoredAsset = Arc::make_mut(asset);
        (asset.id, asset.sha256, asset.content) = (asset.id + 100_000, Some("7".repeat(64)), None);
    }
}

/// A file that this run replaced and that has other bytes again ends the run.
#[test]
fn a_file_that_changes_again_after_it_was_replaced_stops_the_run() {
    let play = play(GithubSettings::default(), &["edit-release=no-right"]);
    let files = Files {
        at_once: 1,
        ..Files::of(1, 1)
    };
    error_of(play.publish(&files, &files.desired_release(1), PublishPolicy::default()));
    replace_all(&mut play.github());
    play.github().faults = FaultSchedule::none();
    let client = play.client_over(Arc::new(Rival(Arc::clone(&play))));
    let applied = run_over(
        &client,
        &files,
        &files.desired_release(2),
        PublishPolicy::default(),
    )
    .unwrap();
    insta::assert_snapshot!(human(&[Diagnostic::from(error_of(applied.end))], false), @r#"
    error[G321 replaced-again]: `SHA256SUMS` was replaced, but its content has changed again
    --> SHA256SUMS
    help: let one run publish at a time: run the same command again when no other one publishes
    "#);
    assert!(play.releases().iter().all(|release| release.draft));
}

fn publish(project: &Project, server: &FakeServer, more: &[&str], exit: i32) -> Outcome {
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
    project.run(&[&words[..], more].concat()).exits(exit)
}

fn release(server: &FakeServer) -> Arc<StoredRelease> {
    let github = server.github();
    let [release] = &github
        .repository("me/wheels")
        .releases
        .values()
        .cloned()
        .collect::<Vec<_>>()[..]
    else {
        panic!("one release")
    };
    Arc::clone(release)
}

fn project() -> Project {
    Project::new()
        .env("GITHUB_TOKEN", "writer")
        .bytes(&format!("dist/{WHEEL}"), &Wheel::named(WHEEL).bytes())
}

/// Gives the stored wheel other bytes, as a storage that errs.
fn corrupt(server: &FakeServer) {
    let mut github = server.github();
    let release = github
        .repository_mut("me/wheels")
        .releases
        .values_mut()
        .next()
        .unwrap();
    let assets = &mut Arc::make_mut(release).assets;
    let wheel = assets.iter_mut().find(|asset| asset.name == WHEEL).unwrap();
    Arc::make_mut(wheel).sha256 = Some("0".repeat(64));
}

/// What a run left in its own draft is put right by the next one, with a message; what is public
/// needs `--replace`.
#[test]
fn wrong_bytes_in_an_own_draft_are_replaced_without_a_flag() {
    let (project, server) = (
        project(),
        FakeServer::start(FakeGithub::new(GithubSettings::default())),
    );
    server
        .github()
        .faults
        .add("edit-release=no-right".parse::<FaultRule>().unwrap());
    publish(&project, &server, &[], 3);
    corrupt(&server);
    server.github().faults = FaultSchedule::none();
    let dry = publish(&project, &server, &["--dry-run"], 0).stdout;
    let methods: Vec<&str> = dry
        .lines()
        .map(|line| line.split(' ').next().unwrap())
        .collect();
    assert_eq!(methods, ["DELETE", "POST", "PATCH", "3"], "{dry}");
    let stderr = publish(&project, &server, &[], 0).stderr;
    insta::assert_snapshot!(stderr, @r#"
    replacing flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl: the release has a file with different content
    "#);
    let public = release(&server);
    let wheel = public
        .assets
        .iter()
        .find(|asset| asset.name == WHEEL)
        .unwrap();
    assert!(!public.draft && wheel.sha256 != Some("0".repeat(64)));

    corrupt(&server);
    let refused = publish(&project, &server, &["--allow-published"], 1).stderr;
    assert!(
        refused.contains("G002") && refused.contains("--replace"),
        "{refused}"
    );
}

/// `--draft` sends all and publishes nothing; the same command without it publishes.
#[test]
fn a_release_can_be_left_a_draft() {
    let (project, server) = (
        project(),
        FakeServer::start(FakeGithub::new(GithubSettings::default())),
    );
    let first = publish(&project, &server, &["--draft", "--format", "json"], 0).stdout;
    let first: Value = serde_json::from_str(&first).unwrap();
    assert_eq!(
        (&first["published"], &first["complete"]),
        (&Value::Bool(false), &Value::Bool(true))
    );
    assert!(release(&server).draft);
    let again = publish(&project, &server, &["--draft"], 0).stdout;
    let id = release(&server).assets[0].id;
    // A wheel that was built again takes the place of the other.
    let other = Wheel::named(WHEEL).file("flash_attn/new.py", b"1").bytes();
    let project = project.bytes(&format!("dist/{WHEEL}"), &other);
    let changed = publish(&project, &server, &["--draft"], 0).stdout;
    assert!(release(&server).draft && release(&server).assets.iter().all(|asset| asset.id != id));
    let public = publish(&project, &server, &[], 0).stdout;
    assert!(!release(&server).draft);
    let too_late = publish(&project, &server, &["--draft"], 0).stdout;
    assert!(!release(&server).draft);
    let stdout: String = [again, changed, public, too_late]
        .concat()
        .replace(&server.url(), "SERVER");
    let stdout = stdout
        .lines()
        .map(|line| line.replace(&shown_tag(line), "untagged") + "\n")
        .collect::<String>();
    insta::assert_snapshot!(stdout, @r#"
    SERVER/me/wheels/releases/tag/untagged is up to date, nothing written: 3 files
    SERVER/me/wheels/releases/tag/untagged is a draft, which only its owners see: 3 files
    SERVER/me/wheels/releases/tag/v1 is published: 3 files
    SERVER/me/wheels/releases/tag/v1 is already public, and `--draft` does not unpublish it: 3 files
    "#);
}

/// The tag in the address of a draft, which GitHub makes up.
fn shown_tag(line: &str) -> String {
    let tag = line
        .split("/tag/")
        .nth(1)
        .and_then(|rest| rest.split(' ').next())
        .unwrap_or_default();
    if tag.starts_with("untagged-") {
        tag.to_owned()
    } else {
        "\0".to_owned()
    }
}

/// What is public already is not written to with `--draft`.
#[test]
fn a_published_release_does_not_become_a_draft() {
    let play = play(GithubSettings::default(), &[]);
    let files = Files::of(1, 1);
    assert!(matches!(
        play.publish(&files, &files.desired_release(1), PublishPolicy::default()),
        PublishResult::Done(_)
    ));
    let more = Files::of(2, 1);
    let desired = rock_matrix::publish::remote::DesiredRelease {
        stays_draft: true,
        ..more.desired_release(2)
    };
    let end = play.publish(&more, &desired, PublishPolicy::default());
    let PublishResult::Refused(refused) = &end else {
        panic!("{end:?}")
    };
    assert!(
        refused
            .iter()
            .any(|refusal| matches!(refusal, ReleaseRefusal::Published { .. })),
        "{refused:?}"
    );
}
