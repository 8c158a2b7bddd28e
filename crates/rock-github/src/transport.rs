//! The interface that sends requests.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use http::{Request, Response};
use http_body_util::BodyExt;
use rock_sys::http::{HttpBody, HttpClient, HttpError};

/// Time limit without any data sent or received.
pub(super) const SILENCE: Duration = Duration::from_mins(2);

/// A future that returns a response.
pub type ResponseFuture<'w> =
    Pin<Box<dyn Future<Output = Result<Response<HttpBody>, HttpError>> + Send + 'w>>;

/// Sends one request to one server and returns its response: over the network, or in a test. Does
/// not follow redirects or retry.
pub trait Transport: Send + Sync {
    /// Sends a request.
    fn send(&self, request: Request<HttpBody>) -> ResponseFuture<'_>;
}

impl Transport for HttpClient {
    fn send(&self, request: Request<HttpBody>) -> ResponseFuture<'_> {
        Box::pin(self.send_with_timeout(request, SILENCE))
    }
}

/// Reads a body to its end; `take` receives each chunk and returns whether to continue. Returns
/// whether the end was reached.
pub(super) async fn read_body(
    body: HttpBody,
    mut take: impl FnMut(&[u8]) -> bool,
) -> Result<bool, HttpError> {
    let mut body = body;
    loop {
        let silent = |_| {
            HttpError::transient(format!(
                "the response was interrupted: no data for {} seconds",
                SILENCE.as_secs()
            ))
        };
        let Some(frame) = tokio::time::timeout(SILENCE, body.frame())
            .await
            .map_err(silent)?
        else {
            return Ok(true);
        };
        let frame = frame.map_err(|error| {
            HttpError::transient(format!("the response was interrupted: {error}"))
        })?;
        if frame.data_ref().is_some_and(|data| !take(data)) {
            return Ok(false);
        }
    }
}
