//! Blocking GET of index pages.
//!
//! Input: an address, limits and proxies. Output: the body, or what went wrong with the address named.
//!
//! **Invariant:** nothing is fetched that the user did not ask for, never more than the limit, and the environment is
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

/// Fetches a text. At most five redirects are followed, from https to https only, and a minute is waited in all. Bytes
/// that are not UTF-8 are replaced.
///
/// # Errors
/// When there is no answer, the status is not 200, or the body is larger than `limit_bytes`.
pub fn get(address: &str, limit_bytes: u64, proxies: &Proxies) -> Result<String, FetchError> {
    let fault = |status, reason: String| FetchError { address: address.to_owned(), status, reason };
    let proxy = proxies.of(address).map_err(|reason| fault(None, reason))?;
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_global(Some(Duration::from_mins(1)))
        .timeout_connect(Some(Duration::from_secs(15)))
        .max_redirects(5)
        .https_only(address.starts_with("https://"))
        .proxy(proxy)
        .user_agent(concat!("rock-matrix/", env!("CARGO_PKG_VERSION")))
        .accept("text/html")
        .build()
        .into();
    let response = agent.get(address).call().map_err(|error| match error {
        ureq::Error::StatusCode(status) => fault(Some(status), format!("the server answers {status}")),
        other => fault(None, other.to_string()),
    })?;
    if response.status() != 200 {
        let status = response.status().as_u16();
        return Err(fault(Some(status), format!("the server answers {status}")));
    }
    let mut body = Vec::new();
    let reader = response.into_body().into_reader();
    reader.take(limit_bytes + 1).read_to_end(&mut body).map_err(|error| fault(None, error.to_string()))?;
    if body.len() as u64 > limit_bytes {
        return Err(fault(Some(200), format!("the page is larger than {limit_bytes} bytes")));
    }
    Ok(String::from_utf8_lossy(&body).into_owned())
}

#[cfg(test)]
mod tests;
