//! The interface that sends requests.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::BodyExt;

/// Time limit without any data sent or received.
pub(super) const SILENCE: Duration = Duration::from_mins(2);

/// The body of a request or a response.
pub type HttpBody = http_body_util::combinators::UnsyncBoxBody<Bytes, io::Error>;

/// A future that returns a response.
pub type ResponseFuture<'w> =
    Pin<Box<dyn Future<Output = Result<Response<HttpBody>, WireError>> + Send + 'w>>;

/// Sends one request to one server and returns its response: over the network, or in a test. Does
/// not follow redirects or retry.
pub trait Transport: Send + Sync {
    /// Sends a request.
    fn send(&self, request: Request<HttpBody>) -> ResponseFuture<'_>;
}

/// A request without a response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct WireError {
    /// The cause, in one line.
    pub reason: String,
    /// Whether a retry would fail as well: an untrusted certificate, or a proxy that refuses the
    /// connection.
    pub is_lasting: bool,
}

/// Returns a body with these bytes.
pub fn whole(bytes: impl Into<Bytes>) -> HttpBody {
    http_body_util::Full::new(bytes.into())
        .map_err(|never| match never {})
        .boxed_unsync()
}

/// Reads a body to its end; `take` receives each chunk and returns whether to continue. Returns
/// whether the end was reached.
pub(super) async fn read_body(
    body: HttpBody,
    mut take: impl FnMut(&[u8]) -> bool,
) -> Result<bool, WireError> {
    let passing = |reason: String| WireError {
        reason,
        is_lasting: false,
    };
    let mut body = body;
    loop {
        let silent = |_| {
            passing(format!(
                "the answer broke off: nothing came for {} seconds",
                SILENCE.as_secs()
            ))
        };
        let Some(frame) = tokio::time::timeout(SILENCE, body.frame())
            .await
            .map_err(silent)?
        else {
            return Ok(true);
        };
        let frame = frame.map_err(|error| passing(format!("the answer broke off: {error}")))?;
        if frame.data_ref().is_some_and(|data| !take(data)) {
            return Ok(false);
        }
    }
}
