//! Text made safe for HTML and for the path of a URL.

use serde::Serialize;

/// Text in which no character has a meaning to HTML, in content and in quoted attributes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(super) struct Html(String);

impl Html {
    /// Escapes a text.
    pub(super) fn of(text: &str) -> Self {
        let mut escaped = String::with_capacity(text.len());
        for c in text.chars() {
            match c {
                '&' => escaped.push_str("&amp;"),
                '<' => escaped.push_str("&lt;"),
                '>' => escaped.push_str("&gt;"),
                '"' => escaped.push_str("&quot;"),
                '\'' => escaped.push_str("&#39;"),
                c => escaped.push(c),
            }
        }
        Self(escaped)
    }
}

/// Percent-encodes one segment of a URL path: all but the unreserved characters of RFC 3986 section 2.3. `+` becomes
/// `%2B`, because some clients decode a plain one as a space.
pub fn percent_encode(segment: impl AsRef<[u8]>) -> String {
    let segment = segment.as_ref();
    let mut encoded = String::with_capacity(segment.len() + 8);
    for &byte in segment {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::{Html, percent_encode};

    #[test]
    fn no_text_can_end_an_attribute_or_begin_a_tag() {
        assert_eq!(Html::of(r#">=3.9,<4 & "x" 'y'"#).0, "&gt;=3.9,&lt;4 &amp; &quot;x&quot; &#39;y&#39;");
    }

    #[test]
    fn a_plus_in_a_name_is_percent_encoded_in_links() {
        assert_eq!(percent_encode("a-1+rocm6.2_x y.whl"), "a-1%2Brocm6.2_x%20y.whl");
        assert_eq!(percent_encode("é#?/"), "%C3%A9%23%3F%2F");
        assert_eq!(percent_encode(b"rel\xff"), "rel%FF", "a file's name is bytes");
    }
}
