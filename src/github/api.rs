//! Where the API is, and where a token may go.

use std::fmt;
use std::str::FromStr;

use http::Uri;

/// GitHub's own API.
const PUBLIC: &str = "https://api.github.com";

/// An API that was chosen: GitHub's, that of an enterprise server, or one on this machine for tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Api {
    base: Uri,
}

/// Not an address of an API.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApiError {
    /// It cannot be read.
    #[error("`{0}` is no address like `https://github.example.com/api/v3`")]
    Malformed(String),
    /// A token would go over the network in plain text.
    #[error("`{0}` is not encrypted: only an address on this machine may begin with `http:`")]
    Plain(String),
    /// An address that the API named lies elsewhere.
    #[error("the API at `{api}` names `{found}`, where no token may go")]
    Elsewhere {
        /// The API's host.
        api: String,
        /// The host it named.
        found: String,
    },
}

impl Api {
    /// GitHub's own.
    pub fn public() -> Self {
        Self { base: Uri::from_static(PUBLIC) }
    }

    /// The API without its last `/`.
    pub fn base(&self) -> String {
        self.base.to_string().trim_end_matches('/').to_owned()
    }

    /// An absolute address of the API, of a path that begins with `/`.
    ///
    /// # Errors
    /// When the path is none.
    pub fn at(&self, path_and_query: &str) -> Result<Uri, ApiError> {
        let text = format!("{}{path_and_query}", self.base());
        text.parse().map_err(|_| ApiError::Malformed(text))
    }

    /// Where a file is sent to: the address that the release names, without its template, with name and label in it.
    ///
    /// # Errors
    /// When the address is not on a host that may have the token.
    pub fn upload(&self, upload_url: &str, name: &str) -> Result<Uri, ApiError> {
        let address = upload_url.split_once('{').map_or(upload_url, |(address, _)| address);
        let text = format!("{address}?name={}", crate::names::percent_encode(name));
        let uri: Uri = text.parse().map_err(|_| ApiError::Malformed(text))?;
        if self.may_have_token(&uri) { Ok(uri) } else { Err(self.elsewhere(&uri)) }
    }

    /// Whether the token may go to this address: the API itself, and of an API at `api.DOMAIN` the host of uploads,
    /// `uploads.DOMAIN` (REST API version 2022-11-28, "Upload a release asset"; the same with data residency at GHE.com).
    pub fn may_have_token(&self, uri: &Uri) -> bool {
        let is_same = uri.scheme() == self.base.scheme() && uri.authority() == self.base.authority();
        let domain = |uri: &Uri, host: &str| {
            let is_plain = uri.scheme_str() == Some("https") && uri.port().is_none();
            uri.host().filter(|_| is_plain).and_then(|found| found.strip_prefix(host).map(str::to_owned))
        };
        let own = domain(&self.base, "api.");
        is_same || (own.is_some() && own == domain(uri, "uploads."))
    }

    /// The address as an error.
    pub(super) fn elsewhere(&self, uri: &Uri) -> ApiError {
        let host = |uri: &Uri| uri.authority().map_or_else(|| uri.to_string(), ToString::to_string);
        ApiError::Elsewhere { api: host(&self.base), found: host(uri) }
    }
}

impl FromStr for Api {
    type Err = ApiError;

    fn from_str(text: &str) -> Result<Self, ApiError> {
        let malformed = || ApiError::Malformed(text.to_owned());
        let base: Uri = text.trim_end_matches('/').parse().map_err(|_| malformed())?;
        let host = base.host().ok_or_else(malformed)?;
        let has_user = base.authority().is_some_and(|authority| authority.as_str().contains('@'));
        if has_user || base.query().is_some() {
            return Err(malformed());
        }
        match base.scheme_str() {
            Some("https") => Ok(Self { base }),
            Some("http") if is_loopback(host) => Ok(Self { base }),
            Some("http") => Err(ApiError::Plain(text.to_owned())),
            _ => Err(malformed()),
        }
    }
}

impl fmt::Display for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.base())
    }
}

/// Whether a host is this machine.
pub(super) fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || bare.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::{Api, ApiError};

    #[test]
    fn plain_http_is_for_this_machine_alone() {
        for good in
            ["http://127.0.0.1:8080", "http://[::1]:80/x", "http://localhost", "https://ghe.example.com/api/v3/"]
        {
            assert!(good.parse::<Api>().is_ok(), "{good}");
        }
        assert!(matches!("http://api.github.com".parse::<Api>(), Err(ApiError::Plain(_))));
        for bad in ["", "api.github.com", "ftp://x", "https://user@x", "https://x?y"] {
            assert!(matches!(bad.parse::<Api>(), Err(ApiError::Malformed(_))), "{bad}");
        }
    }

    #[test]
    fn a_plus_stays_a_plus_and_the_token_goes_to_no_other_host() {
        let template = "https://uploads.github.com/repos/o/r/releases/7/assets{?name,label}";
        let sent = Api::public().upload(template, "a-1+rocm62 ~x.whl").unwrap().to_string();
        assert_eq!(sent, "https://uploads.github.com/repos/o/r/releases/7/assets?name=a-1%2Brocm62%20~x.whl");
        for elsewhere in
            ["https://evil.example/x{?name}", "http://uploads.github.com/x", "https://uploads.github.com:8/x"]
        {
            assert!(matches!(Api::public().upload(elsewhere, "a"), Err(ApiError::Elsewhere { .. })), "{elsewhere}");
        }
        let residency: Api = "https://api.octo.ghe.com".parse().unwrap();
        assert!(residency.upload("https://uploads.octo.ghe.com/x", "a").is_ok());
        assert!(residency.upload("https://uploads.ghe.com/x", "a").is_err());
        assert!(residency.upload("https://uploads.github.com/x", "a").is_err());
        let local: Api = "http://127.0.0.1:8080".parse().unwrap();
        assert!(local.upload("http://127.0.0.1:8081/x", "a").is_err(), "another port");
        assert!(local.upload(template, "a").is_err());
    }
}
