//! Where the API is, and where a token may go.

use std::fmt;
use std::str::FromStr;

use http::Uri;
use http::uri::Authority;

use super::limits::MOST_REDIRECTS;

/// GitHub's own API.
const PUBLIC: &str = "https://api.github.com";

/// An API that was chosen: GitHub's, that of an enterprise server, or one on this machine for
/// tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiEndpoint {
    base: Uri,
    /// Further hosts that files may be sent to.
    uploads: Vec<UploadsHost>,
}

/// A host that files may be sent to: `uploads.example.com`, with a port where it has one of its
/// own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UploadsHost(Authority);

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
    /// The address of a release for its files lies elsewhere.
    #[error("the API at `{api}` wants files sent to `{found}`, where no token may go")]
    UploadsElsewhere {
        /// The API's host.
        api: String,
        /// The host it named.
        found: String,
    },
    /// Redirects that do not end.
    #[error("the API at `{api}` answers a call with more than {MOST_REDIRECTS} redirects")]
    TooManyRedirects {
        /// The API's host.
        api: String,
    },
    /// Not a host.
    #[error("`{0}` is no host like `uploads.example.com`")]
    NoHost(String),
}

impl ApiEndpoint {
    /// GitHub's own.
    pub fn public() -> Self {
        Self {
            base: Uri::from_static(PUBLIC),
            uploads: Vec::new(),
        }
    }

    /// The same, whose files may be sent to these hosts as well.
    #[must_use]
    pub fn with_uploads(self, hosts: &[UploadsHost]) -> Self {
        Self {
            uploads: hosts.to_vec(),
            ..self
        }
    }

    /// Whether what goes there is encrypted. What is not stays on this machine.
    pub fn is_encrypted(&self) -> bool {
        self.base.scheme_str() == Some("https")
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

    /// Where a file is sent to: the address that the release names, without its template, with name
    /// and label in it.
    ///
    /// # Errors
    /// When the address is not on a host that may have the token.
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

    /// Whether an address is on the API's own host: the same scheme, host and port.
    pub fn is_own(&self, uri: &Uri) -> bool {
        uri.scheme() == self.base.scheme() && uri.authority() == self.base.authority()
    }

    /// Whether the token may go to this address: the API itself, of an API at `api.DOMAIN` the host
    /// of uploads, `uploads.DOMAIN` (REST API version 2022-11-28, "Upload a release asset"; the
    /// same with data residency at GHE.com), and the hosts of [`Self::with_uploads`].
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

    /// An address for files, as an error.
    pub(super) fn uploads_elsewhere(&self, uri: &Uri) -> ApiError {
        ApiError::UploadsElsewhere {
            api: authority(&self.base),
            found: authority(uri),
        }
    }

    /// The address as an error.
    pub(super) fn elsewhere(&self, uri: &Uri) -> ApiError {
        ApiError::Elsewhere {
            api: authority(&self.base),
            found: authority(uri),
        }
    }

    /// The error of a call that leads through too many redirects. It did nothing: no answer but the
    /// last one does.
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

/// Whether a host is this machine.
pub(super) fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || bare
            .parse()
            .is_ok_and(|address: std::net::IpAddr| address.is_loopback())
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
