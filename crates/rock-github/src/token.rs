//! The token that authenticates requests to the API.

use std::fmt;

use rock_names::percent_encode;

/// A token. Only the `Authorization` header exposes it; `Debug` masks it.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// Wraps a token; `None` if it is empty or not valid in a header.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic()))
            .then(|| Self(text.to_owned()))
    }

    /// Returns the value of the `Authorization` header, marked as sensitive so that it is not
    /// printed.
    pub(super) fn header(&self) -> http::HeaderValue {
        let mut value = http::HeaderValue::try_from(format!("Bearer {}", self.0))
            .unwrap_or_else(|_| http::HeaderValue::from_static(""));
        value.set_sensitive(true);
        value
    }

    /// Replaces the token in a text, verbatim or percent-encoded, regardless of case.
    pub fn without(&self, text: &str) -> String {
        let encoded = percent_encode(&self.0);
        let mut clean = text.to_owned();
        for form in [&self.0, &encoded] {
            let form = form.to_ascii_lowercase();
            while let Some(at) = clean.to_ascii_lowercase().find(&form) {
                clean.replace_range(at..at + form.len(), "***");
            }
        }
        clean
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::Token;

    #[test]
    fn a_token_shows_itself_to_nobody() {
        let token = Token::new(" ghp_secret\n").unwrap();
        assert_eq!(
            (format!("{token:?}"), format!("{:?}", token.header())),
            ("***".into(), "Sensitive".into())
        );
        assert_eq!(token.without("bad ghp_secret! GHP_SECRET"), "bad ***! ***");
        let odd = Token::new("a/b+c").unwrap();
        assert_eq!(odd.without("a/b+c A%2fb%2Bc a/b c"), "*** *** a/b c");
        assert_eq!((Token::new(""), Token::new("a b")), (None, None));
    }
}
