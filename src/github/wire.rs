//! What carries a request.

use std::future::Future;
use std::io;
use std::pin::Pin;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::BodyExt;

/// The body of a request or of an answer.
pub type Body = http_body_util::combinators::UnsyncBoxBody<Bytes, io::Error>;

/// A future of an answer.
pub type Answering<'w> = Pin<Box<dyn Future<Output = Result<Response<Body>, WireError>> + Send + 'w>>;

/// Carries one request to one server and brings its answer: the network, or a test. It neither follows redirects nor
/// tries again.
pub trait Wire: Send + Sync {
    /// Sends it.
    fn send(&self, request: Request<Body>) -> Answering<'_>;
}

/// No answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct WireError {
    /// What happened, one line.
    pub reason: String,
    /// Whether it cannot be otherwise the next time: a certificate that is not trusted, a proxy that refuses.
    pub is_lasting: bool,
}

/// A body of these bytes.
pub fn whole(bytes: impl Into<Bytes>) -> Body {
    http_body_util::Full::new(bytes.into()).map_err(|never| match never {}).boxed_unsync()
}
