//! Text made safe for HTML.

use std::fmt;

use serde::Serialize;

/// Text in which no character has a meaning to HTML, in content and in quoted attributes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Html(String);

impl Html {
    /// Escapes a text.
    pub fn of(text: &str) -> Self {
        let mut escaped = String::with_capacity(text.len());
        push(&mut escaped, text);
        Self(escaped)
    }
}

/// Appends a text escaped.
pub(super) fn push(page: &mut String, text: &str) {
    let mut rest = text;
    while let Some(at) = rest.find(['&', '<', '>', '"', '\'']) {
        page.push_str(&rest[..at]);
        page.push_str(match rest.as_bytes()[at] {
            b'&' => "&amp;",
            b'<' => "&lt;",
            b'>' => "&gt;",
            b'"' => "&quot;",
            _ => "&#39;",
        });
        rest = &rest[at + 1..];
    }
    page.push_str(rest);
}

impl fmt::Display for Html {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Html;

    #[test]
    fn no_text_can_end_an_attribute_or_begin_a_tag() {
        assert_eq!(Html::of(r#">=3.9,<4 & "x" 'y'"#).0, "&gt;=3.9,&lt;4 &amp; &quot;x&quot; &#39;y&#39;");
    }
}
