//! What carries a request.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::BodyExt;

/// How long nothing may move, neither out nor in.
pub(super) const SILENCE: Duration = Duration::from_mins(2);

/// The body of a request or of an answer.
pub type HttpBody = http_body_util::combinators::UnsyncBoxBody<Bytes, io::Error>;

/// A future of an answer.
pub type ResponseFuture<'w> =
    Pin<Box<dyn Future<Output = Result<Response<HttpBody>, WireError>> + Send + 'w>>;

/// Carries one request to one server and brings its answer: the network, or a test. It neither
/// follows redirects nor tries again.
pub trait Transport: Send + Sync {
    /// Sends it.
    fn send(&self, request: Request<HttpBody>) -> ResponseFuture<'_>;
}

/// No answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct WireError {
    /// What happened, one line.
    pub reason: String,
    /// Whether it cannot be otherwise the next time: a certificate that is not trusted, a proxy
    /// that refuses.
    pub is_lasting: bool,
}

/// A body of these bytes.
pub fn whole(bytes: impl Into<Bytes>) -> HttpBody {
    http_body_util::Full::new(bytes.into())
        .map_err(|never| match never {})
        .boxed_unsync()
}

/// Reads a body to its end; `take` says whether to go on. Gives whether it came to the end.
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
