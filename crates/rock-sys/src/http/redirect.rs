//! Redirects of requests.

use http::header::LOCATION;
use http::{HeaderMap, Method};
use url::Url;

/// Maximum redirects of one request. GitHub and package indexes send one or two, and a proxy may
/// send another.
pub const MAX_REDIRECTS: usize = 5;

/// The error of a redirect that is not followed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RedirectError {
    /// The location is not a URL.
    #[error("the redirect to `{location}` cannot be followed: {reason}")]
    Invalid {
        /// The location in the response.
        location: String,
        /// The cause.
        reason: String,
    },
    /// The request was encrypted, and the location is not an https URL.
    #[error("the redirect to `{0}` is not encrypted")]
    Unencrypted(Url),
}

/// Returns the URL that a response redirects a request to, from https only to https (RFC 9110,
/// section 15.4).
///
/// A redirect keeps the method of a request. For other methods than GET, only 307 and 308 do.
///
/// # Errors
///
/// Returns an error if the redirect must not or cannot be followed.
pub fn redirect_target(
    method: &Method,
    from: &str,
    status: u16,
    headers: &HeaderMap,
) -> Result<Option<Url>, RedirectError> {
    let keeps_method = match status {
        301..=303 => *method == Method::GET,
        307 | 308 => true,
        _ => false,
    };
    let location = headers.get(LOCATION).and_then(|value| value.to_str().ok());
    let Some(location) = location.filter(|_| keeps_method) else {
        return Ok(None);
    };
    let invalid = |error: url::ParseError| RedirectError::Invalid {
        location: location.to_owned(),
        reason: error.to_string(),
    };
    let from = Url::parse(from).map_err(invalid)?;
    let next = from.join(location).map_err(invalid)?;
    match (from.scheme(), next.scheme()) {
        (_, "https") | ("http", "http") => Ok(Some(next)),
        _ => Err(RedirectError::Unencrypted(next)),
    }
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, Method};

    use super::redirect_target;

    /// Returns the target of a redirect, or the error as text.
    fn target(method: &Method, from: &str, status: u16, location: &str) -> Option<String> {
        let mut headers = HeaderMap::new();
        headers.insert("location", location.parse().unwrap());
        match redirect_target(method, from, status, &headers) {
            Ok(next) => next.map(Into::into),
            Err(error) => Some(error.to_string()),
        }
    }

    #[test]
    fn a_redirect_keeps_the_method() {
        for (status, get, post) in [
            (200, false, false),
            (301, true, false),
            (302, true, false),
            (303, true, false),
            (304, false, false),
            (307, true, true),
            (308, true, true),
        ] {
            let found = [Method::GET, Method::POST]
                .map(|method| target(&method, "https://a.test/x", status, "/y").is_some());
            assert_eq!(found, [get, post], "{status}");
        }
    }

    #[test]
    fn a_location_is_relative_to_the_request_and_stays_encrypted() {
        let from = "https://a.test/x/y?z=1";
        let get = |from: &str, location: &str| target(&Method::GET, from, 302, location).unwrap();
        assert_eq!(get(from, "/w?v=a%2Bb"), "https://a.test/w?v=a%2Bb");
        assert_eq!(get(from, "w"), "https://a.test/x/w");
        assert_eq!(get(from, "//b.test/w"), "https://b.test/w");
        assert_eq!(
            get(from, "http://b.test/w"),
            "the redirect to `http://b.test/w` is not encrypted"
        );
        assert_eq!(
            get(from, "ftp://b.test/w"),
            "the redirect to `ftp://b.test/w` is not encrypted"
        );
        let invalid = get(from, "https://");
        assert!(
            invalid.starts_with("the redirect to `https://` cannot be followed: "),
            "{invalid}"
        );
        assert_eq!(get("http://a.test/x", "http://b.test/w"), "http://b.test/w");
        assert_eq!(get("http://a.test/x", "https://b.test/"), "https://b.test/");
        let none = redirect_target(&Method::GET, from, 302, &HeaderMap::new());
        assert_eq!(none, Ok(None));
    }
}
