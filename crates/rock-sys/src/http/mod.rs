//! Sends HTTP/1.1 requests with hyper: over TLS, through a proxy, with a limit on silence.
//!
//! Input: a request and proxies as values. Output: a response whose body is read as it arrives, or
//! an error that says whether a retry may help.
//!
//! **Invariant:** redirects are not followed and requests are not retried; [`redirect_target`] and
//! [`is_transient_status`] decide for callers that do. Only the variables that
//! name trusted certificates are read from the environment.

mod client;
mod forwarding;
mod proxy;
mod redirect;
mod resolver;
mod tls;

use std::io;

use bytes::Bytes;
use http_body_util::BodyExt;

pub use client::HttpClient;
pub use proxy::ProxySettings;
pub use redirect::{MAX_REDIRECTS, RedirectError, redirect_target};

/// The body of a request or a response.
pub type HttpBody = http_body_util::combinators::UnsyncBoxBody<Bytes, io::Error>;

/// The error of a request without a response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct HttpError {
    /// The cause, in one line.
    pub reason: String,
    /// Whether a retry may succeed. After an untrusted certificate, or if a proxy refuses the
    /// connection, none does.
    pub is_transient: bool,
}

impl HttpError {
    /// Returns an error that a retry does not solve.
    pub fn permanent(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            is_transient: false,
        }
    }

    /// Returns an error that a retry may solve.
    pub fn transient(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            is_transient: true,
        }
    }
}

/// Whether a status reports a temporary condition, so that a retry may succeed: a timeout, too
/// early, too many requests, or a server error (RFC 9110, sections 15.5.9 and 15.6; RFC 8470; RFC
/// 6585).
pub fn is_transient_status(status: u16) -> bool {
    matches!(status, 408 | 425 | 429 | 500 | 502 | 503 | 504)
}

/// Returns a body with these bytes.
pub fn full_body(bytes: impl Into<Bytes>) -> HttpBody {
    http_body_util::Full::new(bytes.into())
        .map_err(|never| match never {})
        .boxed_unsync()
}

/// Whether a host is this machine, which no proxy is used for.
pub fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || bare
            .parse()
            .is_ok_and(|address: std::net::IpAddr| address.is_loopback())
}
