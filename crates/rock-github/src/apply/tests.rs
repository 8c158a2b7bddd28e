//! Runs against simulated releases.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use http::{Method, Request, Response};
use rock_compat::Compat;
use rock_diagnostic::Diagnostic;
use rock_names::Digest;
use rock_publish::remote::{DesiredRelease, PublishPolicy};
use rock_publish::{DesiredFile, ListedAsset, ListedRelease};
use rock_sys::http::{HttpBody, HttpError, full_body};
use serde_json::json;

use super::{PublishCallbacks, PublishResult, PublishRun, apply};
use crate::client::testing::{call_options, client_with};
use crate::retry::MOST_TRIES;
use crate::{
    ApiEndpoint, CallOptions, GithubError, RecordingTransport, ResponseFuture, Transport,
    UploadSource,
};

/// The handling of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    /// The first file is stored, but its response is lost.
    FirstResponseLost,
    /// Each upload is refused, because the name is taken.
    NameTaken,
    /// No upload has a response. Only the last attempt is stored.
    OnlyLastAttemptStored,
    /// As before, and the asset is not listed before the next wait.
    LastAttemptListedAfterWait,
    /// No creation of a draft has a response. Only the last attempt is stored.
    OnlyLastDraftStored,
    /// No upload of `a.whl` is stored or has a response.
    UploadsOfFirstFileLost,
    /// No upload is stored or has a response.
    UploadsLost,
    /// Downloads of assets have two bytes.
    ShortDownloads,
    /// Assets are renamed to `a.whl.1`.
    OtherName,
}

/// Simulates releases, with a fault.
struct FaultyTransport {
    releases: RecordingTransport,
    fault: Fault,
    creations: AtomicUsize,
    uploads: AtomicUsize,
    /// Whether assets are not listed until the next wait.
    is_listing_late: AtomicBool,
}

impl Transport for FaultyTransport {
    fn send(&self, request: Request<HttpBody>) -> ResponseFuture<'_> {
        let is_upload =
            request.method() == Method::POST && request.uri().path().ends_with("/assets");
        let is_creation =
            request.method() == Method::POST && request.uri().path().ends_with("/releases");
        let is_first_file = request.uri().query() == Some("name=a.whl");
        let is_of_asset = request.uri().path().contains("/releases/assets/");
        let is_download = is_of_asset && request.method() == Method::GET;
        let is_listing =
            request.method() == Method::GET && request.uri().path().ends_with("/assets");
        let is_rename = is_of_asset && request.method() == Method::PATCH;
        let is_last = |before: usize| u32::try_from(before + 1) == Ok(MOST_TRIES);
        Box::pin(async move {
            match self.fault {
                Fault::OnlyLastDraftStored if is_creation => {
                    if is_last(self.creations.fetch_add(1, Ordering::Relaxed)) {
                        self.releases.send(request).await?;
                    }
                    return Err(HttpError::transient("the connection was cut"));
                }
                Fault::LastAttemptListedAfterWait
                    if is_listing && self.is_listing_late.load(Ordering::Relaxed) =>
                {
                    return Ok(Response::new(full_body("[]")));
                }
                Fault::ShortDownloads if is_download => {
                    return Ok(Response::new(full_body("ab")));
                }
                Fault::OtherName if is_rename => {
                    let renamed = json!({
                        "id": 7,
                        "name": "a.whl.1",
                        "state": "uploaded",
                        "size": 3,
                        "digest": digest().to_string(),
                    });
                    return Ok(Response::new(full_body(renamed.to_string())));
                }
                _ if !is_upload => return self.releases.send(request).await,
                _ => {}
            }
            let before = self.uploads.fetch_add(1, Ordering::Relaxed);
            if self.fault == Fault::NameTaken {
                let body = r#"{"message": "Validation Failed", "errors": [
                    {"resource": "ReleaseAsset", "code": "already_exists", "field": "name"}]}"#;
                let refusal = Response::builder().status(422).body(full_body(body));
                return Ok(refusal.expect("the response is valid"));
            }
            let is_stored = match self.fault {
                Fault::OnlyLastAttemptStored | Fault::LastAttemptListedAfterWait => is_last(before),
                Fault::UploadsOfFirstFileLost => !is_first_file,
                Fault::UploadsLost => false,
                _ => true,
            };
            if !is_stored {
                return Err(HttpError::transient("the connection was cut"));
            }
            let response = self.releases.send(request).await;
            let is_lost = match self.fault {
                Fault::OnlyLastAttemptStored | Fault::LastAttemptListedAfterWait => true,
                Fault::FirstResponseLost => before == 0,
                _ => false,
            };
            if is_lost {
                self.is_listing_late.store(true, Ordering::Relaxed);
                return Err(HttpError::transient("the connection was cut"));
            }
            response
        })
    }
}

/// Returns the digest of each file.
fn digest() -> Digest {
    Digest::new([1; 32])
}

/// Publishes files with these names to the `listed` releases. Returns also the requests that
/// reached the releases and change something, and the number of uploads.
fn publish_files(
    fault: Fault,
    names: &[&str],
    listed: Vec<ListedRelease>,
    policy: PublishPolicy,
) -> (PublishRun, Vec<String>, usize) {
    let transport = Arc::new(FaultyTransport {
        releases: RecordingTransport::new(&ApiEndpoint::public().base(), listed.clone()),
        fault,
        creations: AtomicUsize::new(0),
        uploads: AtomicUsize::new(0),
        is_listing_late: AtomicBool::new(false),
    });
    let mut desired = DesiredRelease::new("v1".to_owned(), "nonce".to_owned(), &Compat::embedded());
    desired.assets.extend(names.iter().map(|name| DesiredFile {
        name: (*name).to_owned(),
        digest: digest(),
        size_bytes: 3,
        generated: false,
    }));
    let mut callbacks = PublishCallbacks {
        open_file: &|_| Ok(UploadSource::Text("abc".into())),
        path_of: &str::to_owned,
        on_step: &mut |_| {},
        on_sent: Arc::new(|_, _| {}),
        at_once: 1,
    };
    let waiting = Arc::clone(&transport);
    let client = client_with(CallOptions {
        on_wait: Box::new(move |_| waiting.is_listing_late.store(false, Ordering::Relaxed)),
        ..call_options(Arc::clone(&transport) as Arc<dyn Transport>)
    });
    let run = apply(&client, &desired, policy, listed, &mut callbacks);
    let calls = transport.releases.calls();
    let lines = calls
        .iter()
        .map(|call| format!("{} {}", call.method, call.path))
        .collect();
    let uploads = transport.uploads.load(Ordering::Relaxed);
    (run, lines, uploads)
}

/// Publishes `a.whl` to a new release.
fn publish(fault: Fault) -> (PublishRun, Vec<String>, usize) {
    publish_files(fault, &["a.whl"], Vec::new(), PublishPolicy::default())
}

const WHOLE_RUN: [&str; 3] = [
    "POST /repos/o/r/releases",
    "POST /repos/o/r/releases/1/assets?name=a.whl",
    "PATCH /repos/o/r/releases/1",
];

#[test]
fn a_release_is_created_filled_and_published() {
    let (run, lines, _) = publish(Fault::None);
    assert_eq!(run.end, PublishResult::Done(vec![1]));
    assert_eq!((run.steps, run.unknown_steps.len()), (3, 0));
    assert_eq!(lines, WHOLE_RUN);
}

#[test]
fn an_upload_without_a_response_is_listed_and_not_repeated() {
    let (run, lines, uploads) = publish(Fault::FirstResponseLost);
    assert_eq!(run.end, PublishResult::Done(vec![1]));
    assert_eq!((uploads, run.unknown_steps.len()), (1, 0));
    assert_eq!(lines, WHOLE_RUN);
}

/// The attempts of an upload are counted across reconciliations.
#[test]
fn an_upload_whose_name_stays_taken_ends_the_run() {
    let (run, _, uploads) = publish(Fault::NameTaken);
    assert_eq!(
        run.end,
        PublishResult::Failed(GithubError::UnknownOutcome {
            call: "POST /repos/o/r/releases/1/assets?name=a.whl".to_owned(),
            reason: "the name is taken".to_owned(),
            status: None,
        })
    );
    assert_eq!(u32::try_from(uploads), Ok(MOST_TRIES));
}

/// The releases are listed again after the last attempt, too, and after a wait.
#[test]
fn an_upload_whose_last_attempt_is_stored_without_a_response_is_a_success() {
    for fault in [
        Fault::OnlyLastAttemptStored,
        Fault::LastAttemptListedAfterWait,
    ] {
        let (run, lines, uploads) = publish(fault);
        assert_eq!(run.end, PublishResult::Done(vec![1]), "{fault:?}");
        assert_eq!(u32::try_from(uploads), Ok(MOST_TRIES));
        assert_eq!(lines, WHOLE_RUN);
    }
}

#[test]
fn a_draft_whose_last_attempt_is_stored_without_a_response_is_used() {
    let (run, lines, _) = publish(Fault::OnlyLastDraftStored);
    assert_eq!(run.end, PublishResult::Done(vec![1]));
    assert!(run.unknown_steps.is_empty(), "{:?}", run.unknown_steps);
    assert_eq!(lines, WHOLE_RUN);
}

#[test]
fn a_file_whose_uploads_fail_does_not_keep_others_from_being_uploaded() {
    let names = ["a.whl", "b.whl"];
    let fault = Fault::UploadsOfFirstFileLost;
    let (run, lines, uploads) = publish_files(fault, &names, Vec::new(), PublishPolicy::default());
    let PublishResult::Failed(GithubError::UnknownOutcome { call, .. }) = &run.end else {
        panic!("{:?}", run.end)
    };
    assert_eq!(call, "POST /repos/o/r/releases/1/assets?name=a.whl");
    assert_eq!(
        lines,
        [
            "POST /repos/o/r/releases",
            "POST /repos/o/r/releases/1/assets?name=b.whl",
        ]
    );
    assert_eq!(u32::try_from(uploads), Ok(MOST_TRIES + 1));
    assert_eq!(run.unknown_steps, [], "the releases were listed again");
}

/// The attempts of all files are counted as long as none succeeds.
#[test]
fn several_files_are_attempted_six_times_together_if_no_upload_succeeds() {
    let names = ["a.whl", "b.whl", "c.whl"];
    let (run, _, uploads) = publish_files(
        Fault::UploadsLost,
        &names,
        Vec::new(),
        PublishPolicy::default(),
    );
    assert!(
        matches!(
            run.end,
            PublishResult::Failed(GithubError::UnknownOutcome { .. })
        ),
        "{:?}",
        run.end
    );
    assert_eq!(u32::try_from(uploads), Ok(MOST_TRIES));
}

/// Returns the release `v1` with ID 1 and these assets of three bytes.
fn release(draft: bool, assets: &[(u64, &str, Option<Digest>)]) -> ListedRelease {
    let asset = |(id, name, digest): &(u64, &str, Option<Digest>)| ListedAsset {
        id: *id,
        name: (*name).to_owned(),
        size: 3,
        digest: *digest,
        ..ListedAsset::default()
    };
    ListedRelease {
        id: 1,
        tag_name: "v1".to_owned(),
        draft,
        assets: assets.iter().map(asset).collect(),
        ..ListedRelease::default()
    }
}

/// A download changes nothing, so its outcome is not unknown.
#[test]
fn a_download_that_stays_short_is_a_response_that_is_not_valid() {
    let policy = PublishPolicy {
        fetch_to_verify: true,
        ..PublishPolicy::default()
    };
    let listed = vec![release(true, &[(7, "a.whl", None)])];
    let (run, lines, _) = publish_files(Fault::ShortDownloads, &["a.whl"], listed, policy);
    assert_eq!(
        run.end,
        PublishResult::Failed(GithubError::Malformed {
            call: "GET releases/assets/7".to_owned(),
            reason: "`a.whl` has 3 bytes, but 2 were received".to_owned(),
        })
    );
    assert!(lines.is_empty(), "{lines:?}");
}

#[test]
fn an_asset_that_github_renames_to_another_name_is_reported_and_kept() {
    let policy = PublishPolicy {
        replace: true,
        published: true,
        ..PublishPolicy::default()
    };
    let replacement = "a.whl.tmp-010101010101";
    let assets = [
        (6, "a.whl", Some(Digest::new([2; 32]))),
        (7, replacement, Some(digest())),
    ];
    let listed = vec![release(false, &assets)];
    let (run, lines, _) = publish_files(Fault::OtherName, &["a.whl"], listed, policy);
    let PublishResult::Failed(error) = run.end else {
        panic!("{:?}", run.end)
    };
    assert_eq!(
        error.to_string(),
        "GitHub renamed `a.whl.tmp-010101010101` to `a.whl.1` instead of `a.whl`"
    );
    let diagnostic = Diagnostic::from(error);
    assert_eq!(diagnostic.code.name, "asset-renamed");
    let help = diagnostic.help.unwrap();
    assert!(
        help.starts_with("delete `a.whl.1` from the release"),
        "{help}"
    );
    assert_eq!(lines, ["DELETE /repos/o/r/releases/assets/6"]);
    let names: Vec<&str> = run.releases[0]
        .assets
        .iter()
        .map(|asset| asset.name.as_str())
        .collect();
    assert_eq!(names, ["a.whl.1"]);
}
