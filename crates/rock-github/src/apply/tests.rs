//! Runs against simulated releases.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use http::{Method, Request, Response};
use rock_compat::Compat;
use rock_names::Digest;
use rock_publish::DesiredFile;
use rock_publish::remote::{DesiredRelease, PublishPolicy};
use rock_sys::http::{HttpBody, HttpError, full_body};

use super::{PublishCallbacks, PublishResult, PublishRun, apply};
use crate::client::testing::client_over;
use crate::retry::MOST_TRIES;
use crate::{
    ApiEndpoint, GithubError, RecordingTransport, ResponseFuture, Transport, UploadSource,
};

/// The handling of uploads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UploadFault {
    None,
    /// The first file is stored, but its response is lost.
    FirstResponseLost,
    /// Each upload is refused, because the name is taken.
    NameTaken,
}

/// Simulates releases, with a fault of the uploads.
struct FaultyTransport {
    releases: RecordingTransport,
    fault: UploadFault,
    uploads: AtomicUsize,
}

impl Transport for FaultyTransport {
    fn send(&self, request: Request<HttpBody>) -> ResponseFuture<'_> {
        let is_upload =
            request.method() == Method::POST && request.uri().path().ends_with("/assets");
        Box::pin(async move {
            if !is_upload {
                return self.releases.send(request).await;
            }
            let before = self.uploads.fetch_add(1, Ordering::Relaxed);
            if self.fault == UploadFault::NameTaken {
                let body = r#"{"message": "Validation Failed", "errors": [
                    {"resource": "ReleaseAsset", "code": "already_exists", "field": "name"}]}"#;
                let refusal = Response::builder().status(422).body(full_body(body));
                return Ok(refusal.expect("the response is valid"));
            }
            let response = self.releases.send(request).await;
            if self.fault == UploadFault::FirstResponseLost && before == 0 {
                return Err(HttpError::transient("the connection was cut"));
            }
            response
        })
    }
}

/// Publishes `a.whl`. Returns also the requests that reached the releases and change something, and
/// the number of uploads.
fn publish(fault: UploadFault) -> (PublishRun, Vec<String>, usize) {
    let transport = Arc::new(FaultyTransport {
        releases: RecordingTransport::new(&ApiEndpoint::public().base(), Vec::new()),
        fault,
        uploads: AtomicUsize::new(0),
    });
    let mut desired = DesiredRelease::new("v1".to_owned(), "nonce".to_owned(), &Compat::embedded());
    desired.assets.push(DesiredFile {
        name: "a.whl".to_owned(),
        digest: Digest::new([1; 32]),
        size_bytes: 3,
        generated: false,
    });
    let mut callbacks = PublishCallbacks {
        open_file: &|_| Ok(UploadSource::Text("abc".into())),
        on_step: &mut |_| {},
        on_sent: Arc::new(|_, _| {}),
        at_once: 1,
    };
    let client = client_over(Arc::clone(&transport) as Arc<dyn Transport>);
    let policy = PublishPolicy::default();
    let run = apply(&client, &desired, policy, Vec::new(), &mut callbacks);
    let calls = transport.releases.calls();
    let lines = calls
        .iter()
        .map(|call| format!("{} {}", call.method, call.path))
        .collect();
    let uploads = transport.uploads.load(Ordering::Relaxed);
    (run, lines, uploads)
}

const WHOLE_RUN: [&str; 3] = [
    "POST /repos/o/r/releases",
    "POST /repos/o/r/releases/1/assets?name=a.whl",
    "PATCH /repos/o/r/releases/1",
];

#[test]
fn a_release_is_created_filled_and_published() {
    let (run, lines, _) = publish(UploadFault::None);
    assert_eq!(run.end, PublishResult::Done(vec![1]));
    assert_eq!((run.steps, run.unknown_steps.len()), (3, 0));
    assert_eq!(lines, WHOLE_RUN);
}

#[test]
fn an_upload_without_a_response_is_listed_and_not_repeated() {
    let (run, lines, uploads) = publish(UploadFault::FirstResponseLost);
    assert_eq!(run.end, PublishResult::Done(vec![1]));
    assert_eq!((uploads, run.unknown_steps.len()), (1, 0));
    assert_eq!(lines, WHOLE_RUN);
}

/// The attempts of an upload are counted across reconciliations.
#[test]
fn an_upload_whose_name_stays_taken_ends_the_run() {
    let (run, _, uploads) = publish(UploadFault::NameTaken);
    assert_eq!(
        run.end,
        PublishResult::Failed(GithubError::UnknownOutcome {
            call: "POST /repos/o/r/releases/1/assets?name=a.whl".to_owned(),
            reason: "the name is taken".to_owned(),
        })
    );
    assert_eq!(u32::try_from(uploads), Ok(MOST_TRIES));
}
