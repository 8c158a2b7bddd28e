//! Downloads index pages and large files with blocking GET requests.
//!
//! Input: an address, limits and proxies. Output: the body as text or as a stream, or an error with
//! the address.
//!
//! **Invariant:** only addresses that the caller passes and their redirects are fetched, a page is
//! read at most one byte beyond its limit, and proxies are passed as values. Only the variables
//! that name trusted certificates are read from the environment.

use std::io::{self, Read};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use bytes::{Buf, Bytes};
use http::header::{ACCEPT, AUTHORIZATION, LOCATION, USER_AGENT};
use http::{HeaderValue, Request, Response};
use http_body_util::BodyExt;
use percent_encoding::percent_decode_str;
use tokio::runtime::{Builder, Runtime};
use url::Url;

use crate::codes::facts as codes;
use crate::http::{HttpBody, HttpClient, HttpError, full_body};
use rock_diagnostic::{Diagnostic, Location};

pub use crate::http::ProxySettings;

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
            "set `SSL_CERT_FILE` to the certificates of the authority that signs for the server"
        } else {
            "check the address and the network; saved pages work as well: pass their directory"
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
/// Maximum number of redirects.
const MAX_REDIRECTS: u32 = 5;

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
    let response = send(
        address,
        &[(ACCEPT.as_str(), "text/html")],
        PAGE_TIMEOUTS,
        proxies,
    )?;
    check_status(address, response)?
        .into_body()
        .take(limit_bytes + 1)
        .read_to_end(&mut body)
        .map_err(|error| FetchError {
            is_transient: true,
            ..fetch_error(address, None, error.to_string())
        })?;
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
    let timeouts = FetchTimeouts::Stalled(STALL_TIMEOUT);
    let response = check_status(address, send(address, &[], timeouts, proxies)?)?;
    // A weak entity tag does not identify the exact bytes (RFC 9110, 8.8.1).
    let version = header(&response, "etag")
        .filter(|tag| tag.starts_with('"'))
        .map(str::to_owned);
    Ok((Box::new(response.into_body()), version))
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
        return Ok(Some(Box::new(response.into_body())));
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

/// A body that is read with blocking calls.
struct BlockingBody {
    body: HttpBody,
    runtime: Runtime,
    /// The part of the last frame that has not been read.
    chunk: Bytes,
    deadlines: Deadlines,
}

impl Read for BlockingBody {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.chunk.is_empty() {
            let limit = self.deadlines.next_wait();
            let frame = self
                .runtime
                .block_on(async { tokio::time::timeout(limit, self.body.frame()).await });
            match frame {
                Ok(Some(frame)) => self.chunk = frame?.into_data().unwrap_or_default(),
                Ok(None) => return Ok(0),
                Err(_) => {
                    let message = self.deadlines.message();
                    return Err(io::Error::new(io::ErrorKind::TimedOut, message));
                }
            }
        }
        let count = buffer.len().min(self.chunk.len());
        self.chunk.copy_to_slice(&mut buffer[..count]);
        Ok(count)
    }
}

/// Time limits of a request that has begun.
#[derive(Debug, Clone, Copy)]
enum Deadlines {
    At(Instant, Duration),
    Stalled(Duration),
}

impl Deadlines {
    fn start(timeouts: FetchTimeouts) -> Self {
        match timeouts {
            FetchTimeouts::Total(limit) => Self::At(Instant::now() + limit, limit),
            FetchTimeouts::Stalled(limit) => Self::Stalled(limit),
        }
    }

    /// Returns the time that the next step may take.
    fn next_wait(self) -> Duration {
        match self {
            Self::At(end, _) => end.saturating_duration_since(Instant::now()),
            Self::Stalled(limit) => limit,
        }
    }

    /// Returns the message of an exceeded limit.
    fn message(self) -> String {
        match self {
            Self::At(_, limit) => format!("not complete after {} s", limit.as_secs_f32()),
            Self::Stalled(limit) => format!("no data for {} s", limit.as_secs_f32()),
        }
    }
}

/// Returns the value of a header, if it is visible ASCII.
fn header<'r, B>(response: &'r Response<B>, name: &str) -> Option<&'r str> {
    response.headers().get(name)?.to_str().ok()
}

/// Returns the response if its status is 200.
fn check_status<B>(address: &str, response: Response<B>) -> Result<Response<B>, FetchError> {
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
            format!("the server responded with {status}"),
        )
    })
}

/// Sends a GET request and follows redirects.
fn send(
    address: &str,
    headers: &[(&str, &str)],
    timeouts: FetchTimeouts,
    proxies: &ProxySettings,
) -> Result<Response<BlockingBody>, FetchError> {
    let permanent = |reason: String| fetch_error(address, None, reason);
    let mut url: Url = address
        .parse()
        .map_err(|error: url::ParseError| permanent(error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(permanent(format!("`{}:` is not supported", url.scheme())));
    }
    let mut credentials = take_credentials(&mut url);
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| permanent(error.to_string()))?;
    let client = HttpClient::new(proxies.clone());
    let deadlines = Deadlines::start(timeouts);
    for _ in 0..=MAX_REDIRECTS {
        let response = runtime
            .block_on(send_once(
                &client,
                &url,
                headers,
                credentials.as_ref(),
                deadlines,
            ))
            .map_err(|error| FetchError {
                is_transient: !error.is_permanent,
                ..permanent(error.reason)
            })?;
        let next = redirect(&response, &url).map_err(permanent)?;
        match next {
            Some(mut next) => {
                let own = take_credentials(&mut next);
                if own.is_some() || next.origin() != url.origin() {
                    credentials = own;
                }
                url = next;
            }
            None => {
                return Ok(response.map(|body| BlockingBody {
                    runtime,
                    body,
                    chunk: Bytes::new(),
                    deadlines,
                }));
            }
        }
    }
    Err(permanent(format!("more than {MAX_REDIRECTS} redirects")))
}

/// Removes user name and password from a URL and returns them as a header (RFC 7617).
fn take_credentials(url: &mut Url) -> Option<HeaderValue> {
    if url.username().is_empty() && url.password().is_none() {
        return None;
    }
    let decode = |text: &str| percent_decode_str(text).collect::<Vec<u8>>();
    let mut pair = decode(url.username());
    pair.push(b':');
    pair.extend(decode(url.password().unwrap_or_default()));
    // Both succeed for URLs with a host.
    let _ = (url.set_username(""), url.set_password(None));
    let mut value = HeaderValue::from_str(&format!("Basic {}", BASE64.encode(pair))).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// Sends one GET request.
async fn send_once(
    client: &HttpClient,
    url: &Url,
    headers: &[(&str, &str)],
    credentials: Option<&HeaderValue>,
    deadlines: Deadlines,
) -> Result<Response<HttpBody>, HttpError> {
    let mut request = Request::get(url.as_str()).header(
        USER_AGENT,
        concat!("rock-matrix/", env!("CARGO_PKG_VERSION")),
    );
    if !headers.iter().any(|(name, _)| *name == ACCEPT.as_str()) {
        request = request.header(ACCEPT, "*/*");
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    if let Some(credentials) = credentials {
        request = request.header(AUTHORIZATION, credentials);
    }
    let request = request
        .body(full_body(Bytes::new()))
        .map_err(|error| HttpError::permanent(error.to_string()))?;
    // The client reports silence; a limit of the total time is the only other one.
    let (total, silence) = match deadlines {
        Deadlines::At(..) => (deadlines.next_wait(), Duration::MAX),
        Deadlines::Stalled(limit) => (Duration::MAX, limit),
    };
    tokio::time::timeout(total, client.send_with_timeout(request, silence))
        .await
        .unwrap_or_else(|_| Err(HttpError::transient(deadlines.message())))
}

/// Returns where a response redirects to, from https only to https (RFC 9110, 15.4).
fn redirect<B>(response: &Response<B>, from: &Url) -> Result<Option<Url>, String> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let Some(location) = header(response, LOCATION.as_str()) else {
        return Ok(None);
    };
    let next = from
        .join(location)
        .map_err(|error| format!("the redirect to `{location}` cannot be followed: {error}"))?;
    match (from.scheme(), next.scheme()) {
        (_, "https") | ("http", "http") => Ok(Some(next)),
        _ => Err(format!("the redirect to `{next}` is not encrypted")),
    }
}

#[cfg(test)]
mod tests;
