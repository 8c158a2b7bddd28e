//! Uploads files as assets of a release.

use std::cell::{Cell, RefCell};
use std::io;
use std::sync::{Arc, OnceLock};

use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{Method, Uri};

use super::ReleaseClient;
use crate::error::GithubError;
use crate::executor::{Executor, Idempotency};
use crate::upload::{ReadFault, UploadSource, body};
use rock_names::Digest;
use rock_publish::ListedAsset;

/// Maximum number of parallel uploads.
const MOST_AT_ONCE: usize = 4;

/// A file to upload.
pub struct PendingUpload<'u> {
    /// The `upload_url` of the release.
    pub to: String,
    /// The name of the asset.
    pub name: String,
    /// Returns the path of the file, for messages.
    pub path: Box<dyn Fn() -> String + 'u>,
    /// Opens the file when its upload starts.
    pub open_file: Box<dyn Fn() -> io::Result<UploadSource> + 'u>,
    /// Its size in bytes.
    pub size_bytes: u64,
    /// Its digest.
    pub digest: Digest,
    /// Called for each uploaded chunk with its number of bytes.
    pub on_sent: Arc<dyn Fn(u64) + Send + Sync>,
}

/// The result of an upload; `None` if it was not started.
pub type UploadResult = Option<Result<ListedAsset, GithubError>>;

impl ReleaseClient {
    /// Uploads files, up to four in parallel, and returns the results in the same order. No further
    /// upload starts after a stop request, after an error that any other would repeat, or if the
    /// outcome of one is unknown, because the state has to be observed first.
    pub fn upload(&self, uploads: &[PendingUpload<'_>], at_once: usize) -> Vec<UploadResult> {
        let results = RefCell::new(vec![None; uploads.len()]);
        let (next, is_over) = (Cell::new(0), Cell::new(false));
        let lane = async |lane: usize| {
            while lane < at_once.clamp(1, MOST_AT_ONCE) && !is_over.get() {
                let at = next.replace(next.get() + 1);
                let Some(upload) = uploads.get(at) else {
                    return;
                };
                let Some(result) = upload_file(&self.executor, upload, &is_over).await else {
                    return;
                };
                let result = result.map_err(|error| error.without(self.executor.token.as_ref()));
                let ends = |error: &GithubError| {
                    error.is_final() || matches!(error, GithubError::UnknownOutcome { .. })
                };
                is_over.set(is_over.get() || result.as_ref().is_err_and(ends));
                results.borrow_mut()[at] = Some(result);
            }
        };
        self.runtime
            .block_on(async { tokio::join!(lane(0), lane(1), lane(2), lane(3)) });
        results.into_inner()
    }
}

/// Uploads one file and parses the response. After a rate limit, it waits and starts over. `None`
/// if the run ended before the upload could start.
async fn upload_file(
    executor: &Executor,
    upload: &PendingUpload<'_>,
    is_over: &Cell<bool>,
) -> UploadResult {
    let uri = match executor.api.upload(&upload.to, &upload.name) {
        Ok(uri) => uri,
        Err(error) => return Some(Err(error.into())),
    };
    let call = format!("POST {}?name={}", uri.path(), upload.name);
    for tries in 1.. {
        if let Err(error) = executor.turn(&call, Idempotency::Upload).await {
            return Some(Err(error));
        }
        if is_over.get() {
            return None;
        }
        match attempt_upload(executor, upload, &uri, &call, tries).await {
            Ok(None) => {}
            Ok(Some(asset)) => return Some(Ok(asset)),
            Err(error) => return Some(Err(error)),
        }
    }
    None
}

/// Makes one attempt; `None` if a rate limit rejected it.
async fn attempt_upload(
    executor: &Executor,
    upload: &PendingUpload<'_>,
    uri: &Uri,
    call: &str,
    tries: u32,
) -> Result<Option<ListedAsset>, GithubError> {
    let unreadable = |error: io::Error| GithubError::File {
        path: (upload.path)(),
        reason: error.to_string(),
    };
    let source = (upload.open_file)().map_err(unreadable)?;
    let on_sent = Arc::clone(&upload.on_sent);
    let fault = Arc::new(OnceLock::new());
    let content = body(
        source,
        upload.size_bytes,
        upload.digest,
        Arc::clone(&fault),
        move |bytes| on_sent(bytes),
    );
    let mut request = executor.request(&Method::POST, uri, "application/vnd.github+json");
    if let Some(headers) = request.headers_mut() {
        headers.insert(
            CONTENT_TYPE,
            http::HeaderValue::from_static(content_type(&upload.name)),
        );
        headers.insert(CONTENT_LENGTH, upload.size_bytes.into());
    }
    let request = request
        .extension(upload.digest)
        .body(content)
        .map_err(|error| GithubError::Malformed {
            call: call.to_owned(),
            reason: error.to_string(),
        })?;
    let sent = executor.send_once(request, call, tries).await;
    // A file that could not be read was not uploaded, whatever happened to the request.
    if let (Err(GithubError::UnknownOutcome { .. }), Some(fault)) = (&sent, fault.get()) {
        let path = (upload.path)();
        return Err(match fault.clone() {
            ReadFault::Changed => GithubError::FileChanged { path },
            ReadFault::Unreadable(reason) => GithubError::File { path, reason },
        });
    }
    let Some(reply) = sent? else { return Ok(None) };
    let next = reply
        .redirect(&Method::POST, uri)
        .map_err(|error| GithubError::Malformed {
            call: call.to_owned(),
            reason: error.to_string(),
        })?;
    if let Some(next) = next {
        return Err(executor.api.uploads_elsewhere(&next).into());
    }
    if reply.status >= 300 {
        return Err(reply.refusal(call.to_owned()));
    }
    // A success with another body may come from a proxy.
    serde_json::from_slice(&reply.body)
        .map(Some)
        .map_err(|error| GithubError::UnknownOutcome {
            call: call.to_owned(),
            reason: format!("the response is not valid: {error}"),
            status: Some(reply.status),
        })
}

/// Returns the media type of an asset. Checksum file and manifest can be shown in a browser.
fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.') {
        Some((_, "json")) => "application/json",
        _ if name == rock_publish::SUMS => "text/plain",
        _ => "application/octet-stream",
    }
}
