//! API endpoints, and the hosts that may receive a token.

use std::fmt;
use std::str::FromStr;

use http::Uri;
use http::uri::Authority;

use rock_sys::http::{MAX_REDIRECTS, is_loopback};

/// The API of github.com.
const PUBLIC: &str = "https://api.github.com";

/// An API endpoint: that of github.com, of an enterprise server, or one on this machine for tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiEndpoint {
    base: Uri,
    /// Further hosts that files may be uploaded to.
    uploads: Vec<UploadsHost>,
}

/// A host that files may be uploaded to: `uploads.example.com`, with an optional port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UploadsHost(Authority);

/// An invalid API endpoint or URL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApiError {
    /// The URL cannot be parsed.
    #[error("`{0}` is not a URL such as `https://github.example.com/api/v3`")]
    Malformed(String),
    /// A token would be sent over the network in plain text.
    #[error("`{0}` is not encrypted: only URLs of this machine may start with `http:`")]
    Plain(String),
    /// A URL from the API is on another host.
    #[error("the API at `{api}` refers to `{found}`, where the token must not be sent")]
    Elsewhere {
        /// The API's host.
        api: String,
        /// The host in the URL.
        found: String,
    },
    /// The upload URL of a release is on another host.
    #[error("the API at `{api}` has its uploads at `{found}`, where the token must not be sent")]
    UploadsElsewhere {
        /// The API's host.
        api: String,
        /// The host in the URL.
        found: String,
    },
    /// Too many redirects.
    #[error("the API at `{api}` redirects a request more than {MAX_REDIRECTS} times")]
    TooManyRedirects {
        /// The API's host.
        api: String,
    },
    /// The text is not a host.
    #[error("`{0}` is not a host such as `uploads.example.com`")]
    NoHost(String),
}

impl ApiEndpoint {
    /// Returns the endpoint of github.com.
    pub fn public() -> Self {
        Self {
            base: Uri::from_static(PUBLIC),
            uploads: Vec::new(),
        }
    }

    /// Returns the same endpoint, with further hosts that files may be uploaded to.
    #[must_use]
    pub fn with_uploads(self, hosts: &[UploadsHost]) -> Self {
        Self {
            uploads: hosts.to_vec(),
            ..self
        }
    }

    /// Whether requests are encrypted. Others stay on this machine.
    pub fn is_encrypted(&self) -> bool {
        self.base.scheme_str() == Some("https")
    }

    /// Returns the base URL without a trailing `/`.
    pub fn base(&self) -> String {
        self.base.to_string().trim_end_matches('/').to_owned()
    }

    /// Returns the absolute URL of a path that begins with `/`.
    ///
    /// # Errors
    /// If the path is invalid.
    pub fn at(&self, path_and_query: &str) -> Result<Uri, ApiError> {
        let text = format!("{}{path_and_query}", self.base());
        text.parse().map_err(|_| ApiError::Malformed(text))
    }

    /// Returns the URL that a file is uploaded to: the release's `upload_url` without its template,
    /// with the name as a query parameter.
    ///
    /// # Errors
    /// If the URL is invalid, or its host may not receive the token.
    pub fn upload(&self, upload_url: &str, name: &str) -> Result<Uri, ApiError> {
        let address = upload_url
            .split_once('{')
            .map_or(upload_url, |(address, _)| address);
        let text = format!("{address}?name={}", rock_names::percent_encode(name));
        let uri: Uri = text.parse().map_err(|_| ApiError::Malformed(text))?;
        if self.may_have_token(&uri) {
            return Ok(uri);
        }
        Err(self.uploads_elsewhere(&uri))
    }

    /// Whether a URL is on the API's own host: the same scheme, host and port.
    pub fn is_own(&self, uri: &Uri) -> bool {
        uri.scheme() == self.base.scheme() && uri.authority() == self.base.authority()
    }

    /// Whether a URL may receive the token: those of the API itself, of `uploads.DOMAIN` for an API
    /// at `api.DOMAIN` (REST API version 2022-11-28, "Upload a release asset"; also with data
    /// residency at GHE.com), and of the hosts of [`Self::with_uploads`].
    pub fn may_have_token(&self, uri: &Uri) -> bool {
        let is_safe = uri.scheme_str() == Some("https") || uri.host().is_some_and(is_loopback);
        let is_named = self
            .uploads
            .iter()
            .any(|UploadsHost(host)| uri.authority() == Some(host));
        let domain = |uri: &Uri, host: &str| {
            let is_plain = uri.scheme_str() == Some("https") && uri.port().is_none();
            uri.host()
                .filter(|_| is_plain)
                .and_then(|found| found.strip_prefix(host).map(str::to_owned))
        };
        let own = domain(&self.base, "api.");
        self.is_own(uri)
            || (own.is_some() && own == domain(uri, "uploads."))
            || (is_safe && is_named)
    }

    /// Returns the error for an upload URL on another host.
    pub(super) fn uploads_elsewhere(&self, uri: &Uri) -> ApiError {
        ApiError::UploadsElsewhere {
            api: authority(&self.base),
            found: authority(uri),
        }
    }

    /// Returns the error for a URL on another host.
    pub(super) fn elsewhere(&self, uri: &Uri) -> ApiError {
        ApiError::Elsewhere {
            api: authority(&self.base),
            found: authority(uri),
        }
    }

    /// Returns the error for a request with too many redirects. It changed nothing, because a
    /// request that is answered with a redirect is not executed.
    pub(super) fn too_many_redirects(&self) -> ApiError {
        ApiError::TooManyRedirects {
            api: authority(&self.base),
        }
    }
}

fn authority(uri: &Uri) -> String {
    uri.authority()
        .map_or_else(|| uri.to_string(), ToString::to_string)
}

impl FromStr for ApiEndpoint {
    type Err = ApiError;

    fn from_str(text: &str) -> Result<Self, ApiError> {
        let malformed = || ApiError::Malformed(text.to_owned());
        let base: Uri = text
            .trim_end_matches('/')
            .parse()
            .map_err(|_| malformed())?;
        let host = base.host().ok_or_else(malformed)?;
        let has_user = base
            .authority()
            .is_some_and(|authority| authority.as_str().contains('@'));
        if has_user || base.query().is_some() {
            return Err(malformed());
        }
        match base.scheme_str() {
            Some("https") => Ok(Self {
                base,
                uploads: Vec::new(),
            }),
            Some("http") if is_loopback(host) => Ok(Self {
                base,
                uploads: Vec::new(),
            }),
            Some("http") => Err(ApiError::Plain(text.to_owned())),
            _ => Err(malformed()),
        }
    }
}

impl FromStr for UploadsHost {
    type Err = ApiError;

    fn from_str(text: &str) -> Result<Self, ApiError> {
        let host: Result<Authority, _> = text.parse();
        host.ok()
            .filter(|host| !text.contains('@') && !host.host().is_empty())
            .map(Self)
            .ok_or_else(|| ApiError::NoHost(text.to_owned()))
    }
}

impl fmt::Display for UploadsHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for ApiEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.base())
    }
}

#[cfg(test)]
mod tests {
    use super::{ApiEndpoint, ApiError, UploadsHost};

    #[test]
    fn plain_http_is_for_this_machine_alone() {
        for good in [
            "http://127.0.0.1:8080",
            "http://[::1]:80/x",
            "http://localhost",
            "https://ghe.example.com/api/v3/",
        ] {
            assert!(good.parse::<ApiEndpoint>().is_ok(), "{good}");
        }
        assert!(matches!(
            "http://api.github.com".parse::<ApiEndpoint>(),
            Err(ApiError::Plain(_))
        ));
        for bad in [
            "",
            "api.github.com",
            "ftp://x",
            "https://user@x",
            "https://x?y",
        ] {
            assert!(
                matches!(bad.parse::<ApiEndpoint>(), Err(ApiError::Malformed(_))),
                "{bad}"
            );
        }
    }

    #[test]
    fn a_plus_stays_a_plus_and_the_token_goes_to_no_other_host() {
        let template = "https://uploads.github.com/repos/o/r/releases/7/assets{?name,label}";
        let sent = ApiEndpoint::public()
            .upload(template, "a-1+rocm62 ~x.whl")
            .unwrap()
            .to_string();
        assert_eq!(
            sent,
            "https://uploads.github.com/repos/o/r/releases/7/assets?name=a-1%2Brocm62%20~x.whl"
        );
        for elsewhere in [
            "https://evil.example/x{?name}",
            "http://uploads.github.com/x",
            "https://uploads.github.com:8/x",
        ] {
            let refused = ApiEndpoint::public().upload(elsewhere, "a");
            assert!(
                matches!(refused, Err(ApiError::UploadsElsewhere { .. })),
                "{elsewhere}"
            );
        }
        let residency: ApiEndpoint = "https://api.octo.ghe.com".parse().unwrap();
        assert!(
            residency
                .upload("https://uploads.octo.ghe.com/x", "a")
                .is_ok()
        );
        assert!(residency.upload("https://uploads.ghe.com/x", "a").is_err());
        assert!(
            residency
                .upload("https://uploads.github.com/x", "a")
                .is_err()
        );
        let local: ApiEndpoint = "http://127.0.0.1:8080".parse().unwrap();
        assert!(
            local.upload("http://127.0.0.1:8081/x", "a").is_err(),
            "another port"
        );
        assert!(local.upload(template, "a").is_err());
    }

    #[test]
    fn files_go_to_a_host_that_is_named_and_only_encrypted_or_on_this_machine() {
        let hosts: Vec<UploadsHost> = ["files.example.com", "127.0.0.1:81"]
            .iter()
            .map(|host| host.parse().unwrap())
            .collect();
        let api = "https://ghe.example.com/api/v3"
            .parse::<ApiEndpoint>()
            .unwrap()
            .with_uploads(&hosts);
        for (address, is_taken) in [
            ("https://files.example.com/x{?name}", true),
            ("https://FILES.example.com/x", true),
            ("http://127.0.0.1:81/x", true),
            ("https://ghe.example.com/api/uploads/x", true),
            ("http://files.example.com/x", false),
            ("https://files.example.com:8/x", false),
            ("https://other.example.com/x", false),
        ] {
            assert_eq!(api.upload(address, "a").is_ok(), is_taken, "{address}");
        }
        assert!(api.is_own(&"https://ghe.example.com/x".parse().unwrap()));
        assert!(
            !api.is_own(&"https://files.example.com/x".parse().unwrap()),
            "pages of lists come from the API alone"
        );
        for bad in [
            "",
            "https://files.example.com",
            "user@files.example.com",
            "a/b",
            "a b",
        ] {
            assert!(bad.parse::<UploadsHost>().is_err(), "{bad}");
        }
    }
}
