//! The secret that opens the API.

use std::fmt;

/// A token. It shows itself to nobody but the header it is for.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// Wraps a token; `None` where it is empty or no header could carry it.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic())).then(|| Self(text.to_owned()))
    }

    /// The value of the `Authorization` header, marked so that nothing prints it.
    pub(super) fn header(&self) -> http::HeaderValue {
        let mut value = http::HeaderValue::try_from(format!("Bearer {}", self.0))
            .unwrap_or_else(|_| http::HeaderValue::from_static(""));
        value.set_sensitive(true);
        value
    }

    /// The text without the token, wherever it stands in it.
    pub fn without(&self, text: &str) -> String {
        text.replace(&self.0, "***")
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
        assert_eq!((format!("{token:?}"), format!("{:?}", token.header())), ("***".into(), "Sensitive".into()));
        assert_eq!(token.without("bad ghp_secret!"), "bad ***!");
        assert_eq!((Token::new(""), Token::new("a b")), (None, None));
    }
}
