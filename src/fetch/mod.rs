//! Blocking GET of index pages and large files.
//!
//! Input: an address, limits and proxies. Output: the body, as text or as a stream, or what went wrong with the address
//! named.
//!
//! **Invariant:** nothing is fetched that the user did not ask for, of a page never more than the limit, and the environment is
//! not read: proxies come in as values.

mod proxy;

use std::io::Read;
use std::time::Duration;

use crate::diagnostic::{Diagnostic, Place, registry::facts as codes};

pub use proxy::Proxies;

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
}

impl From<FetchError> for Diagnostic {
    fn from(error: FetchError) -> Self {
        let message = error.to_string();
        Self::new(&codes::CANNOT_FETCH, message)
            .at(Place::Remote(error.address), "")
            .help("check the address and the network; saved pages work as well: give their folder")
    }
}

/// How long a page may take.
const PAGE: Duration = Duration::from_mins(1);
/// How long a file may take: of 10 GB, with some 3 MB a second.
const FILE: Duration = Duration::from_hours(1);

/// Fetches a text. At most five redirects are followed, from https to https only, and a minute is waited in all. Bytes
/// that are not UTF-8 are replaced.
///
/// # Errors
/// When there is no answer, the status is not 200, or the body is larger than `limit_bytes`.
pub fn get(address: &str, limit_bytes: u64, proxies: &Proxies) -> Result<String, FetchError> {
    let mut body = Vec::new();
    let reader = ask(address, "text/html", PAGE, proxies)?.into_reader();
    reader.take(limit_bytes + 1).read_to_end(&mut body).map_err(|error| fault(address, None, error.to_string()))?;
    if body.len() as u64 > limit_bytes {
        return Err(fault(address, Some(200), format!("the page is larger than {limit_bytes} bytes")));
    }
    Ok(String::from_utf8_lossy(&body).into_owned())
}

/// Opens a file of any size, which is read as it comes. Redirects are followed as those of pages; an hour is waited in
/// all. A body that ends before the length that was announced is an error when it is read.
///
/// # Errors
/// When there is no answer, or the status is not 200.
pub fn open(address: &str, proxies: &Proxies) -> Result<impl Read + Send + use<>, FetchError> {
    Ok(ask(address, "*/*", FILE, proxies)?.into_reader())
}

fn fault(address: &str, status: Option<u16>, reason: String) -> FetchError {
    FetchError { address: address.to_owned(), status, reason }
}

fn ask(address: &str, accept: &str, patience: Duration, proxies: &Proxies) -> Result<ureq::Body, FetchError> {
    let proxy = proxies.of(address).map_err(|reason| fault(address, None, reason))?;
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_global(Some(patience))
        .timeout_connect(Some(Duration::from_secs(15)))
        .max_redirects(5)
        .https_only(address.starts_with("https://"))
        .proxy(proxy)
        .user_agent(concat!("rock-matrix/", env!("CARGO_PKG_VERSION")))
        .accept(accept)
        .build()
        .into();
    let response = agent.get(address).call().map_err(|error| match error {
        ureq::Error::StatusCode(status) => fault(address, Some(status), format!("the server answers {status}")),
        other => fault(address, None, other.to_string()),
    })?;
    if response.status() != 200 {
        let status = response.status().as_u16();
        return Err(fault(address, Some(status), format!("the server answers {status}")));
    }
    Ok(response.into_body())
}

#[cfg(test)]
mod tests;
