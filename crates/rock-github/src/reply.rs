//! Interprets responses of the API.

use bytes::Bytes;
use http::header::DATE;
use http::{HeaderMap, Method, Response, Uri};

use super::error::GithubError;
use super::limits::MOST_TOLD;
use super::retry::RetryInput;
use rock_sys::http::{HttpError, RedirectError, redirect_target};

/// A response of the API.
#[derive(Debug, Clone)]
pub(super) struct ApiReply {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

impl ApiReply {
    pub(super) fn into_response(self) -> Response<http_body_util::Full<Bytes>> {
        let mut response = Response::new(http_body_util::Full::new(self.body));
        *response.status_mut() =
            http::StatusCode::from_u16(self.status).unwrap_or(http::StatusCode::BAD_GATEWAY);
        *response.headers_mut() = self.headers;
        response
    }

    /// Whether the request was rejected with the status of a rate limit. If the error is temporary,
    /// it certainly changed nothing.
    pub(super) fn is_limit(&self) -> bool {
        matches!(self.status, 403 | 429)
    }

    /// Returns the properties that retries depend on. `message` is the message of the response,
    /// `now` the time in seconds since 1970-01-01 UTC if the response has no date.
    pub(super) fn to_judge<'m>(&self, message: &'m str, now: u64) -> RetryInput<'m> {
        let number = |name| {
            self.headers
                .get(name)
                .and_then(|value| value.to_str().ok()?.trim().parse().ok())
        };
        let date = self
            .headers
            .get(DATE)
            .and_then(|date| httpdate::parse_http_date(date.to_str().ok()?).ok());
        let date = date.and_then(|date| date.duration_since(std::time::UNIX_EPOCH).ok());
        RetryInput {
            status: self.status,
            retry_after: number("retry-after"),
            remaining: number("x-ratelimit-remaining"),
            reset: number("x-ratelimit-reset"),
            now: date.map_or(now, |since| since.as_secs()),
            message,
        }
    }

    /// Returns GitHub's reason for a refusal; empty if it refused nothing.
    pub(super) fn message(&self) -> String {
        #[derive(serde::Deserialize)]
        struct ApiMessage {
            message: String,
        }
        if (200..300).contains(&self.status) {
            return String::new();
        }
        match serde_json::from_slice::<ApiMessage>(&self.body) {
            Ok(answer) => plain(&answer.message),
            Err(_) if self.body.trim_ascii_start().starts_with(b"<") => "an HTML page".to_owned(),
            Err(_) => plain(&String::from_utf8_lossy(
                &self.body[..self.body.len().min(4 * MOST_TOLD)],
            )),
        }
    }

    /// Returns the URL that the response redirects the request to, if any.
    ///
    /// # Errors
    /// If the redirect cannot be followed, or is not encrypted although the request was.
    pub(super) fn redirect(
        &self,
        method: &Method,
        from: &Uri,
    ) -> Result<Option<Uri>, RedirectError> {
        let next = redirect_target(method, &from.to_string(), self.status, &self.headers)?;
        next.map(|next| {
            next.as_str()
                .parse::<Uri>()
                .map_err(|error| RedirectError::Invalid {
                    location: next.to_string(),
                    reason: error.to_string(),
                })
        })
        .transpose()
    }

    /// Returns the error for a response with an error status.
    pub(super) fn refusal(&self, call: String) -> GithubError {
        #[derive(serde::Deserialize, Default)]
        struct ApiErrors {
            #[serde(default)]
            errors: Vec<serde_json::Value>,
        }
        let faults: ApiErrors = serde_json::from_slice(&self.body).unwrap_or_default();
        let word = |fault: &serde_json::Value| {
            fault
                .get("code")
                .or_else(|| fault.get("message"))
                .unwrap_or(fault)
                .as_str()
                .map(plain)
        };
        let details: Vec<&str> = faults
            .errors
            .iter()
            .filter_map(|fault| fault.get("message")?.as_str())
            .collect();
        let mut message = self.message();
        if message.is_empty() {
            let known = http::StatusCode::from_u16(self.status)
                .ok()
                .and_then(|status| status.canonical_reason());
            known.unwrap_or("no message").clone_into(&mut message);
        }
        if !details.is_empty() {
            message = format!("{message}: {}", plain(&details.join("; ")));
        }
        let codes = faults.errors.iter().filter_map(word).collect();
        let fields = faults
            .errors
            .iter()
            .filter_map(|fault| fault.get("field")?.as_str().map(plain))
            .collect();
        GithubError::Status {
            call,
            status: self.status,
            message,
            codes,
            fields,
            request_id: self.request_id().map(String::into_boxed_str),
        }
    }

    /// Returns GitHub's ID of the request, which its support needs; `None` without one.
    pub(super) fn request_id(&self) -> Option<String> {
        let id = self.headers.get("x-github-request-id")?.to_str().ok()?;
        Some(plain(id)).filter(|id| !id.is_empty())
    }
}

/// Describes the result of an attempt. A response is described with GitHub's ID of the request.
pub(super) fn words(got: &Result<ApiReply, HttpError>) -> String {
    match got {
        Err(error) => plain(&error.reason),
        Ok(reply) => {
            let described = format!("{} {}", reply.status, reply.message());
            let described = described.trim();
            match reply.request_id() {
                Some(id) => format!("{described} (request ID {id})"),
                None => described.to_owned(),
            }
        }
    }
}

/// Reduces a text to one line without control characters, since a server may send anything. It is
/// truncated to the maximum length.
fn plain(text: &str) -> String {
    let spaced: String = text
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect();
    let mut line = spaced.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = line.char_indices().nth(MOST_TOLD) {
        line.truncate(end);
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::{ApiReply, GithubError, MOST_TOLD, words};
    use http::HeaderMap;

    fn reply(body: &str) -> ApiReply {
        ApiReply {
            status: 502,
            headers: HeaderMap::new(),
            body: body.to_owned().into(),
        }
    }

    #[test]
    fn the_words_of_a_server_are_one_line_that_no_terminal_obeys() {
        let message = words(&Ok(reply("{\"message\": \"a\\u001b[31mb\\nc\\u009b\"}")));
        assert_eq!(message, "502 a [31mb c");
        assert_eq!(words(&Ok(reply("\n<html><p>Unicorn!"))), "502 an HTML page");
        assert_eq!(
            words(&Ok(reply(&"é".repeat(5000)))).chars().count(),
            "502 ".len() + MOST_TOLD + 1
        );
        assert_eq!(words(&Ok(reply(""))), "502");
    }

    #[test]
    fn the_request_id_of_github_is_in_descriptions_and_errors() {
        let mut page = reply("<html>");
        let id = http::HeaderValue::from_static("0400:F4CE:1:2:3");
        page.headers.insert("x-github-request-id", id);
        assert_eq!(
            words(&Ok(page.clone())),
            "502 an HTML page (request ID 0400:F4CE:1:2:3)"
        );
        let GithubError::Status { request_id, .. } = page.refusal("POST /x".to_owned()) else {
            panic!()
        };
        assert_eq!(request_id.as_deref(), Some("0400:F4CE:1:2:3"));
    }

    #[test]
    fn a_refusal_has_the_words_of_its_faults() {
        let body = r#"{"message": "Validation Failed", "errors": [{"code": "custom", "message": "no\ttag"}, "plain"]}"#;
        let GithubError::Status { message, codes, .. } = reply(body).refusal("POST /x".to_owned())
        else {
            panic!()
        };
        assert_eq!(
            (message.as_str(), codes),
            (
                "Validation Failed: no tag",
                vec!["custom".to_owned(), "plain".to_owned()]
            )
        );
    }
}
