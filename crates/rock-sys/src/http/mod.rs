//! Sends HTTP/1.1 requests with hyper: over TLS, through a proxy, with a limit on silence.
//!
//! Input: a request and proxies as values. Output: a response whose body is read as it arrives, or
//! an error that says whether a retry may help.
//!
//! **Invariant:** redirects are not followed and requests are not retried. Only the variables that
//! name trusted certificates are read from the environment.

mod client;
mod forwarding;
mod proxy;
mod resolver;
mod tls;

use std::io;

use bytes::Bytes;
use http_body_util::BodyExt;

pub use client::HttpClient;
pub use proxy::ProxySettings;

/// The body of a request or a response.
pub type HttpBody = http_body_util::combinators::UnsyncBoxBody<Bytes, io::Error>;

/// The error of a request without a response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct HttpError {
    /// The cause, in one line.
    pub reason: String,
    /// Whether a retry would fail as well: an untrusted certificate, or a proxy that refuses the
    /// connection.
    pub is_permanent: bool,
}

impl HttpError {
    /// Returns an error that a retry does not solve.
    pub fn permanent(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            is_permanent: true,
        }
    }

    /// Returns an error that a retry may solve.
    pub fn transient(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            is_permanent: false,
        }
    }
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
