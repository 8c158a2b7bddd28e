//! Blocking GET of index pages and large files.
//!
//! Input: an address, limits and proxies. Output: the body, as text or as a stream, or what went
//! wrong with the address named.
//!
//! **Invariant:** nothing is fetched that the user did not ask for, of a page never more than the
//! limit, and the environment is not read: proxies come in as values.

mod proxy;

use std::io::Read;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use ureq::tls::{Certificate, RootCerts, TlsConfig};

use crate::codes::facts as codes;
use rock_bytes::can_start_threads;
use rock_diagnostic::{Diagnostic, Location};

pub use proxy::ProxySettings;

/// Bytes of one page. Torch's project page is about 1 MiB.
pub const LARGEST_PAGE_BYTES: u64 = 32 << 20;

/// An address that could not be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot fetch {address}: {reason}")]
pub struct FetchError {
    /// The address asked for.
    pub address: String,
    /// The HTTP status, where there was an answer.
    pub status: Option<u16>,
    /// What went wrong, one line.
    pub reason: String,
    /// Whether it may go well another time: nothing came, or it broke off, or the server has other
    /// things to do.
    pub may_pass: bool,
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

/// How long is waited.
#[derive(Debug, Clone, Copy)]
enum FetchTimeouts {
    /// For all of an answer.
    Whole(Duration),
    /// For its beginning, and from then on from one piece to the next.
    Silence(Duration),
}

/// How long a page may take.
const PAGE: FetchTimeouts = FetchTimeouts::Whole(Duration::from_mins(1));
/// How long nothing may come of a file.
const SILENCE: Duration = Duration::from_mins(1);

/// Fetches a text. At most five redirects are followed, from https to https only, and a minute is
/// waited in all. Bytes that are not UTF-8 are replaced.
///
/// # Errors
/// When there is no answer, the status is not 200, or the body is larger than `limit_bytes`.
pub fn get(address: &str, limit_bytes: u64, proxies: &ProxySettings) -> Result<String, FetchError> {
    let mut body = Vec::new();
    let reader = ok(
        address,
        ask(address, &[("accept", "text/html")], PAGE, proxies)?,
    )?
    .into_body()
    .into_reader();
    let broken = |error: std::io::Error| FetchError {
        may_pass: true,
        ..fault(address, None, error.to_string())
    };
    reader
        .take(limit_bytes + 1)
        .read_to_end(&mut body)
        .map_err(broken)?;
    if body.len() as u64 > limit_bytes {
        return Err(fault(
            address,
            Some(200),
            format!("the page is larger than {limit_bytes} bytes"),
        ));
    }
    Ok(String::from_utf8_lossy(&body).into_owned())
}

/// A file as it comes.
pub type ResponseBody = Box<dyn Read + Send>;

/// Opens a file of any size, which is read as it comes. Redirects are followed as those of pages; a
/// server that falls silent is waited for a minute, and however long all of it takes is no fault. A
/// body that ends before the length that was announced is an error when it is read. Beside it comes
/// what names these very bytes at the server, where it says that, for [`rest`].
///
/// # Errors
/// When there is no answer, or the status is not 200.
pub fn open(
    address: &str,
    proxies: &ProxySettings,
) -> Result<(ResponseBody, Option<String>), FetchError> {
    let response = ok(
        address,
        ask(address, &[], FetchTimeouts::Silence(SILENCE), proxies)?,
    )?;
    // A weak one stands for bytes that may differ (RFC 9110, 8.8.1).
    let version = header(&response, "etag")
        .filter(|tag| tag.starts_with('"'))
        .map(str::to_owned);
    Ok((body(response), version))
}

/// Opens the rest of a file, from a byte on; `None` where the server gives no rests, or has other
/// bytes by this time (RFC 9110, 13.1.5 and 14.2).
///
/// # Errors
/// As those of [`open`].
pub fn get_range(
    address: &str,
    from: u64,
    version: &str,
    proxies: &ProxySettings,
) -> Result<Option<ResponseBody>, FetchError> {
    let range = format!("bytes={from}-");
    let response = ask(
        address,
        &[("range", &range), ("if-range", version)],
        FetchTimeouts::Silence(SILENCE),
        proxies,
    )?;
    let begins = format!("bytes {from}-");
    let is_rest = response.status() == 206
        && header(&response, "content-range").is_some_and(|said| said.starts_with(&begins));
    if is_rest {
        return Ok(Some(body(response)));
    }
    match response.status().as_u16() {
        200 | 206 | 416 => Ok(None),
        _ => ok(address, response).map(|_| None),
    }
}

fn fault(address: &str, status: Option<u16>, reason: String) -> FetchError {
    FetchError {
        address: address.to_owned(),
        status,
        reason,
        may_pass: false,
    }
}

/// The body of an answer, which says in words that nothing came any more.
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

fn header<'r>(response: &'r Response, name: &str) -> Option<&'r str> {
    response.headers().get(name)?.to_str().ok()
}

/// An answer that has what was asked for.
fn ok(address: &str, response: Response) -> Result<Response, FetchError> {
    let status = response.status().as_u16();
    if status == 200 {
        return Ok(response);
    }
    // Too slow, too early, too much, or something is wrong there (RFC 9110, 15.5.9 and 15.6; RFC
    // 8470; RFC 6585).
    let may_pass = matches!(status, 408 | 425 | 429 | 500 | 502 | 503 | 504);
    Err(FetchError {
        may_pass,
        ..fault(
            address,
            Some(status),
            format!("the server answers {status}"),
        )
    })
}

/// Certificates of authorities that are trusted: those of `SSL_CERT_FILE` and `SSL_CERT_DIR` or
/// else of the system, as git and curl have them; Mozilla's where there are none, as in a container
/// without `ca-certificates`. The reason where some are named and none can be read.
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

fn ask(
    address: &str,
    headers: &[(&str, &str)],
    patience: FetchTimeouts,
    proxies: &ProxySettings,
) -> Result<Response, FetchError> {
    let proxy = proxies
        .of(address)
        .map_err(|reason| fault(address, None, reason))?;
    let (whole, silence) = match patience {
        // To limit the whole, ureq resolves the name in a thread, and panics where that cannot be
        // started (ureq, `resolver.rs`, `resolve_async`).
        FetchTimeouts::Whole(limit) if can_start_threads(1) => (Some(limit), None),
        FetchTimeouts::Whole(limit) | FetchTimeouts::Silence(limit) => (None, Some(limit)),
    };
    let tls = TlsConfig::builder();
    let tls = match address
        .starts_with("https://")
        .then(|| ROOT_CERTIFICATES.as_ref())
    {
        Some(roots) => tls.root_certs(
            roots
                .map_err(|reason| fault(address, None, reason.clone()))?
                .clone(),
        ),
        None => tls,
    };
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_global(whole)
        .timeout_connect(Some(Duration::from_secs(15)))
        .timeout_recv_response(silence)
        .timeout_per_read(silence)
        .max_redirects(5)
        .https_only(address.starts_with("https://"))
        .proxy(proxy)
        .tls_config(tls.build())
        .user_agent(concat!("rock-matrix/", env!("CARGO_PKG_VERSION")))
        .http_status_as_error(false)
        .build()
        .into();
    let asked = headers
        .iter()
        .fold(agent.get(address), |asked, (name, value)| {
            asked.header(*name, *value)
        });
    asked.call().map_err(|error| {
        use ureq::Error::{ConnectionFailed, HostNotFound, Io, Protocol, Timeout};
        let may_pass = matches!(
            error,
            Io(_) | Timeout(_) | HostNotFound | ConnectionFailed | Protocol(_)
        );
        FetchError {
            may_pass,
            ..fault(address, None, error.to_string())
        }
    })
}

#[cfg(test)]
mod tests;
