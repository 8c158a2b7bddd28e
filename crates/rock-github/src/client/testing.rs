//! A client with fixed responses, for tests.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response, StatusCode};
use rock_sys::http::{HttpBody, full_body};

use super::{CallOptions, ReleaseClient};
use crate::api::ApiEndpoint;
use crate::clock::SkippingClock;
use crate::rate_limiter::RateLimits;
use crate::transport::{ResponseFuture, Transport};

/// A transport that returns a fixed response for each path, and 404 for other paths.
pub(crate) struct CannedTransport {
    responses: BTreeMap<&'static str, (u16, String)>,
}

impl CannedTransport {
    /// Creates a transport with these paths, statuses and bodies.
    pub(crate) fn new<const N: usize>(responses: [(&'static str, u16, String); N]) -> Self {
        let responses = responses
            .into_iter()
            .map(|(path, status, body)| (path, (status, body)))
            .collect();
        Self { responses }
    }
}

impl Transport for CannedTransport {
    fn send(&self, request: Request<HttpBody>) -> ResponseFuture<'_> {
        let (status, body) = self
            .responses
            .get(request.uri().path())
            .cloned()
            .unwrap_or((404, r#"{"message": "Not Found"}"#.to_owned()));
        let mut response = Response::new(full_body(body));
        *response.status_mut() = StatusCode::from_u16(status).expect("tests use valid statuses");
        Box::pin(std::future::ready(Ok(response)))
    }
}

/// Returns a client of the repository `o/r` with fixed responses, without a token.
pub(crate) fn client(transport: CannedTransport) -> ReleaseClient {
    client_over(Arc::new(transport))
}

/// Returns a client of the repository `o/r` with this transport, without a token.
pub(crate) fn client_over(transport: Arc<dyn Transport>) -> ReleaseClient {
    client_with(call_options(transport))
}

/// Returns a client of the repository `o/r` with these options.
pub(crate) fn client_with(options: CallOptions) -> ReleaseClient {
    let repo = "o/r".parse().expect("the name is valid");
    ReleaseClient::new(repo, options).expect("the runtime starts")
}

/// Returns options with this transport, without a token.
pub(crate) fn call_options(transport: Arc<dyn Transport>) -> CallOptions {
    CallOptions {
        api: ApiEndpoint::public(),
        token: None,
        transport,
        clock: Arc::new(SkippingClock::default()),
        rates: RateLimits {
            per_minute: 60,
            per_hour: 500,
            between_writes: Duration::ZERO,
        },
        time: Duration::from_mins(10),
        stop: Box::new(|| false),
        on_wait: Box::new(|_| {}),
        on_reply: Box::new(|_, _, _| {}),
    }
}
