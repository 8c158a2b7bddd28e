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
use http::header::{ACCEPT, AUTHORIZATION, USER_AGENT};
use http::{HeaderValue, Method, Request, Response};
use http_body_util::BodyExt;
use percent_encoding::percent_decode_str;
use tokio::runtime::{Builder, Runtime};
use url::Url;

use crate::codes::facts as codes;
use crate::http::{
    HttpBody, HttpClient, HttpError, MAX_REDIRECTS, full_body, is_transient_status, redirect_target,
};
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

/// Time limit for a page.
const PAGE_TIMEOUT: Duration = Duration::from_mins(1);
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
    let response = send(
        address,
        &[(ACCEPT.as_str(), "text/html")],
        TimeLimit::of_response(PAGE_TIMEOUT),
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
    let limit = TimeLimit::without_data(STALL_TIMEOUT);
    let response = check_status(address, send(address, &[], limit, proxies)?)?;
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
        TimeLimit::without_data(STALL_TIMEOUT),
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
    limit: TimeLimit,
}

impl Read for BlockingBody {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.chunk.is_empty() {
            let wait = self.limit.next_wait();
            let frame = self
                .runtime
                .block_on(async { tokio::time::timeout(wait, self.body.frame()).await });
            match frame {
                Ok(Some(frame)) => self.chunk = frame?.into_data().unwrap_or_default(),
                Ok(None) => return Ok(0),
                Err(_) => {
                    let message = self.limit.message();
                    return Err(io::Error::new(io::ErrorKind::TimedOut, message));
                }
            }
        }
        let count = buffer.len().min(self.chunk.len());
        self.chunk.copy_to_slice(&mut buffer[..count]);
        Ok(count)
    }
}

/// The time limit of a request that has begun.
#[derive(Debug, Clone, Copy)]
struct TimeLimit {
    limit: Duration,
    /// The time at which the whole response must be complete; `None` if only the time until the
    /// response starts, and the time without further data, are limited.
    end: Option<Instant>,
}

impl TimeLimit {
    /// Limits the time of the whole response, from now.
    fn of_response(limit: Duration) -> Self {
        Self {
            limit,
            end: Some(Instant::now() + limit),
        }
    }

    /// Limits the time until the response starts, and the time without further data.
    fn without_data(limit: Duration) -> Self {
        Self { limit, end: None }
    }

    /// Returns the time that the next step may take.
    fn next_wait(self) -> Duration {
        self.end.map_or(self.limit, |end| {
            end.saturating_duration_since(Instant::now())
        })
    }

    /// Returns the message of an exceeded limit.
    fn message(self) -> String {
        let seconds = self.limit.as_secs_f32();
        match self.end {
            Some(_) => format!("not complete after {seconds} s"),
            None => format!("no data for {seconds} s"),
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
    Err(FetchError {
        is_transient: is_transient_status(status),
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
    limit: TimeLimit,
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
    for _ in 0..=MAX_REDIRECTS {
        let response = runtime
            .block_on(send_once(
                &client,
                &url,
                headers,
                credentials.as_ref(),
                limit,
            ))
            .map_err(|error| FetchError {
                is_transient: error.is_transient,
                ..permanent(error.reason)
            })?;
        let next = redirect_target(
            &Method::GET,
            url.as_str(),
            response.status().as_u16(),
            response.headers(),
        );
        match next.map_err(|error| permanent(error.to_string()))? {
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
                    limit,
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
    limit: TimeLimit,
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
    let (total, silence) = match limit.end {
        Some(_) => (limit.next_wait(), Duration::MAX),
        None => (Duration::MAX, limit.next_wait()),
    };
    tokio::time::timeout(total, client.send_with_timeout(request, silence))
        .await
        .unwrap_or_else(|_| Err(HttpError::transient(limit.message())))
}

#[cfg(test)]
mod tests;
