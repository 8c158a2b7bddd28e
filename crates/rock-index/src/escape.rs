//! Escapes text for HTML.

use std::fmt;

use serde::Serialize;

/// Text without characters that have a meaning in HTML content or in quoted attribute values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct HtmlEscaped(String);

impl HtmlEscaped {
    /// Escapes `text`.
    pub fn of(text: &str) -> Self {
        let mut escaped = String::with_capacity(text.len());
        push(&mut escaped, text);
        Self(escaped)
    }
}

/// Appends `text` to `page`, escaped.
pub(super) fn push(page: &mut String, text: &str) {
    if !text.bytes().any(has_meaning) {
        page.push_str(text);
        return;
    }
    let mut done = 0;
    for (at, byte) in text.bytes().enumerate() {
        let escaped = match byte {
            b'&' => "&amp;",
            b'<' => "&lt;",
            b'>' => "&gt;",
            b'"' => "&quot;",
            b'\'' => "&#39;",
            _ => continue,
        };
        page.push_str(&text[done..at]);
        page.push_str(escaped);
        done = at + 1;
    }
    page.push_str(&text[done..]);
}

/// Whether a byte has a meaning in HTML content or in quoted attribute values.
fn has_meaning(byte: u8) -> bool {
    matches!(byte, b'&' | b'<' | b'>' | b'"' | b'\'')
}

impl fmt::Display for HtmlEscaped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::HtmlEscaped;

    #[test]
    fn no_text_can_end_an_attribute_or_begin_a_tag() {
        assert_eq!(
            HtmlEscaped::of(r#">=3.9,<4 & "x" 'y'"#).0,
            "&gt;=3.9,&lt;4 &amp; &quot;x&quot; &#39;y&#39;"
        );
    }
}
