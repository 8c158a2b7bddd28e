//! Downloads index pages and large files with blocking GET requests.
//!
//! Input: an address, limits and proxies. Output: the body as text or as a stream, or an error with
//! the address.
//!
//! **Invariant:** only addresses that the caller passes and their redirects are fetched, a page is
//! read at most one byte beyond its limit, and proxies are passed as values. Only the variables
//! that name trusted certificates are read from the environment.

mod proxy;

use std::io::Read;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use ureq::tls::{Certificate, RootCerts, TlsConfig};

use crate::codes::facts as codes;
use rock_bytes::can_start_threads;
use rock_diagnostic::{Diagnostic, Location};

pub use proxy::ProxySettings;

/// Maximum size of a page in bytes. The project page of torch has about 1 MiB.
pub const LARGEST_PAGE_BYTES: u64 = 32 << 20;

/// The error of a failed download.
#[derive(Debug, thiserror::Error)]
#[error("cannot fetch {address}: {reason}")]
pub struct FetchError {
    /// The requested address.
    pub address: String,
    /// The HTTP status, if the server responded.
    pub status: Option<u16>,
    /// The cause, in one line.
    pub reason: String,
    /// Whether a retry may succeed: no response, an interrupted response, or a status that reports
    /// a temporary condition.
    pub is_transient: bool,
}

impl From<FetchError> for Diagnostic {
    fn from(error: FetchError) -> Self {
        let message = error.to_string();
        let help = if error.reason.contains("certificate") {
            "name the certificates of the authority that signs for the server in `SSL_CERT_FILE`"
        } else {
            "check the address and the network; saved pages work as well: give their folder"
        };
        Self::new(&codes::CANNOT_FETCH, message)
            .at(Location::Url(error.address), "")
            .help(help)
    }
}

/// The time limits of a request.
#[derive(Debug, Clone, Copy)]
enum FetchTimeouts {
    /// Limits the time of the whole response.
    Total(Duration),
    /// Limits the time until the response starts, and the time without further data.
    Stalled(Duration),
}

/// Time limit for a page.
const PAGE_TIMEOUTS: FetchTimeouts = FetchTimeouts::Total(Duration::from_mins(1));
/// Time limit for a file without further data.
const STALL_TIMEOUT: Duration = Duration::from_mins(1);

/// Downloads a page as text within a minute. Invalid UTF-8 is replaced.
///
/// Follows up to five redirects, from https only to https.
///
/// # Errors
///
/// Returns an error if there is no response, the status is not 200, or the body is larger than
/// `limit_bytes`.
pub fn get(address: &str, limit_bytes: u64, proxies: &ProxySettings) -> Result<String, FetchError> {
    let mut body = Vec::new();
    let reader = check_status(
        address,
        send(address, &[("accept", "text/html")], PAGE_TIMEOUTS, proxies)?,
    )?
    .into_body()
    .into_reader();
    let broken = |error: std::io::Error| FetchError {
        is_transient: true,
        ..fetch_error(address, None, error.to_string())
    };
    reader
        .take(limit_bytes + 1)
        .read_to_end(&mut body)
        .map_err(broken)?;
    if body.len() as u64 > limit_bytes {
        return Err(fetch_error(
            address,
            Some(200),
            format!("the page is larger than {limit_bytes} bytes"),
        ));
    }
    Ok(String::from_utf8_lossy(&body).into_owned())
}

/// A response body that is downloaded while it is read.
pub type ResponseBody = Box<dyn Read + Send>;

/// Opens a file of any size. Returns its body and its strong entity tag, if the server sends one,
/// for [`get_range`].
///
/// Redirects are followed as in [`get`]. A read fails if no data arrives for a minute or the body
/// is shorter than announced; the total time is not limited.
///
/// # Errors
///
/// Returns an error if there is no response or the status is not 200.
pub fn open(
    address: &str,
    proxies: &ProxySettings,
) -> Result<(ResponseBody, Option<String>), FetchError> {
    let response = check_status(
        address,
        send(address, &[], FetchTimeouts::Stalled(STALL_TIMEOUT), proxies)?,
    )?;
    // A weak entity tag does not identify the exact bytes (RFC 9110, 8.8.1).
    let version = header(&response, "etag")
        .filter(|tag| tag.starts_with('"'))
        .map(str::to_owned);
    Ok((body(response), version))
}

/// Opens a file from the byte `from` to its end. Returns `None` if the server does not support
/// ranges or the file does not have the entity tag `version` any more (RFC 9110, 13.1.5 and 14.2).
///
/// # Errors
///
/// Returns an error if there is no response, or a status other than 200, 206 and 416.
pub fn get_range(
    address: &str,
    from: u64,
    version: &str,
    proxies: &ProxySettings,
) -> Result<Option<ResponseBody>, FetchError> {
    let range = format!("bytes={from}-");
    let response = send(
        address,
        &[("range", &range), ("if-range", version)],
        FetchTimeouts::Stalled(STALL_TIMEOUT),
        proxies,
    )?;
    let begins = format!("bytes {from}-");
    let is_rest = response.status() == 206
        && header(&response, "content-range").is_some_and(|value| value.starts_with(&begins));
    if is_rest {
        return Ok(Some(body(response)));
    }
    match response.status().as_u16() {
        200 | 206 | 416 => Ok(None),
        _ => check_status(address, response).map(|_| None),
    }
}

/// Returns a permanent error.
fn fetch_error(address: &str, status: Option<u16>, reason: String) -> FetchError {
    FetchError {
        address: address.to_owned(),
        status,
        reason,
        is_transient: false,
    }
}

/// A reader of a response body that reports a stalled server in words.
struct StalledReader<R>(R);

impl<R: Read> Read for StalledReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.0.read(buffer).map_err(|error| {
            match error
                .get_ref()
                .and_then(|inner| inner.downcast_ref::<ureq::Error>())
            {
                Some(ureq::Error::Timeout(_)) => {
                    std::io::Error::new(std::io::ErrorKind::TimedOut, "the server fell silent")
                }
                _ => error,
            }
        })
    }
}

fn body(response: Response) -> ResponseBody {
    Box::new(StalledReader(response.into_body().into_reader()))
}

type Response = ureq::http::Response<ureq::Body>;

/// Returns the value of a header, if it is visible ASCII.
fn header<'r>(response: &'r Response, name: &str) -> Option<&'r str> {
    response.headers().get(name)?.to_str().ok()
}

/// Returns the response if its status is 200.
fn check_status(address: &str, response: Response) -> Result<Response, FetchError> {
    let status = response.status().as_u16();
    if status == 200 {
        return Ok(response);
    }
    // Timeout, too early, too many requests, or a server error (RFC 9110, 15.5.9 and 15.6; RFC
    // 8470; RFC 6585).
    let is_transient = matches!(status, 408 | 425 | 429 | 500 | 502 | 503 | 504);
    Err(FetchError {
        is_transient,
        ..fetch_error(
            address,
            Some(status),
            format!("the server answers {status}"),
        )
    })
}

/// Trusted root certificates: those of `SSL_CERT_FILE` and `SSL_CERT_DIR`, or else of the system,
/// as for git and curl; Mozilla's if there are none, for example in a container without
/// `ca-certificates`. An error if certificates are configured but none can be read.
static ROOT_CERTIFICATES: LazyLock<Result<RootCerts, String>> = LazyLock::new(|| {
    let found = rustls_native_certs::load_native_certs();
    match (found.certs.as_slice(), found.errors.first()) {
        ([], Some(error)) => Err(format!("no certificates can be read: {error}")),
        ([], None) => Ok(RootCerts::WebPki),
        (certs, _) => {
            let certs = certs
                .iter()
                .map(|der| Certificate::from_der(der).to_owned())
                .collect();
            Ok(RootCerts::Specific(Arc::new(certs)))
        }
    }
});

/// Sends a GET request.
fn send(
    address: &str,
    headers: &[(&str, &str)],
    timeouts: FetchTimeouts,
    proxies: &ProxySettings,
) -> Result<Response, FetchError> {
    let proxy = proxies
        .proxy_for(address)
        .map_err(|error| fetch_error(address, None, error.to_string()))?;
    let (total, stalled) = match timeouts {
        // With a global timeout, ureq resolves names in a thread and panics if it cannot be
        // started (`resolve_async` in ureq's `resolver.rs`).
        FetchTimeouts::Total(limit) if can_start_threads(1) => (Some(limit), None),
        FetchTimeouts::Total(limit) | FetchTimeouts::Stalled(limit) => (None, Some(limit)),
    };
    let tls = TlsConfig::builder();
    let tls = match address
        .starts_with("https://")
        .then(|| ROOT_CERTIFICATES.as_ref())
    {
        Some(roots) => tls.root_certs(
            roots
                .map_err(|reason| fetch_error(address, None, reason.clone()))?
                .clone(),
        ),
        None => tls,
    };
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_global(total)
        .timeout_connect(Some(Duration::from_secs(15)))
        .timeout_recv_response(stalled)
        .timeout_per_read(stalled)
        .max_redirects(5)
        .https_only(address.starts_with("https://"))
        .proxy(proxy)
        .tls_config(tls.build())
        .user_agent(concat!("rock-matrix/", env!("CARGO_PKG_VERSION")))
        .http_status_as_error(false)
        .build()
        .into();
    let request = headers
        .iter()
        .fold(agent.get(address), |request, (name, value)| {
            request.header(*name, *value)
        });
    request.call().map_err(|error| {
        use ureq::Error::{ConnectionFailed, HostNotFound, Io, Protocol, Timeout};
        let is_transient = matches!(
            error,
            Io(_) | Timeout(_) | HostNotFound | ConnectionFailed | Protocol(_)
        );
        FetchError {
            is_transient,
            ..fetch_error(address, None, error.to_string())
        }
    })
}

#[cfg(test)]
mod tests;
