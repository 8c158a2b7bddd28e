//! Generated parts of a hand-written document, each between two comment markers.

use crate::codes::release as codes;
use rock_diagnostic::{Diagnostic, Location};

/// An error about the markers or headings of a document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MarkerError {
    /// The document has none of the markers.
    #[error("it has none of the markers {0}")]
    None(String),
    /// A marker of a pair is missing, duplicated or out of order.
    #[error(
        "`{begin}` and `{end}` occur {begins} and {ends} times, or in the wrong order; each must \
         occur exactly once"
    )]
    Pair {
        /// The start marker.
        begin: String,
        /// The end marker.
        end: String,
        /// The number of start markers in the document.
        begins: usize,
        /// The number of end markers in the document.
        ends: usize,
    },
    /// The heading is missing or not unique.
    #[error("it has no line `{0}`")]
    Heading(String),
}

impl MarkerError {
    /// Returns the diagnostic for a document with this path.
    pub fn diagnostic(&self, path: &str) -> Diagnostic {
        let message = format!("`{path}` cannot be updated: {self}");
        Diagnostic::new(&codes::NO_MARKER, message)
            .at(Location::File(path.into()), "")
            .help("add the line at the place for the generated text")
    }
}

/// A marked part and its new content.
#[derive(Debug, Clone)]
pub(super) struct MarkedPart<'a> {
    /// The name in the markers: `COVERAGE_TABLE` for `<!-- COVERAGE_TABLE_START -->` and
    /// `<!-- COVERAGE_TABLE_END -->`.
    pub(super) name: &'a str,
    /// The new content, ending with a line break.
    pub(super) text: &'a str,
}

/// Replaces every part that the document has markers for and keeps the rest of the document byte
/// for byte. Inserted text gets the line endings of the document.
pub(super) fn replaced(document: &str, parts: &[MarkedPart<'_>]) -> Result<String, MarkerError> {
    let mut text = document.to_owned();
    let mut found = false;
    for part in parts {
        let (begin, end) = (
            format!("<!-- {}_START -->", part.name),
            format!("<!-- {}_END -->", part.name),
        );
        let (begins, ends) = (text.matches(&begin).count(), text.matches(&end).count());
        if (begins, ends) == (0, 0) {
            continue;
        }
        let from = text.find(&begin).map(|at| at + begin.len());
        let to = text.find(&end);
        let (Some(from), Some(to), (1, 1)) = (from, to, (begins, ends)) else {
            return Err(MarkerError::Pair {
                begin,
                end,
                begins,
                ends,
            });
        };
        if to < from {
            return Err(MarkerError::Pair {
                begin,
                end,
                begins,
                ends,
            });
        }
        text.replace_range(
            from..to,
            &with_line_ends_of(document, &format!("\n{}", part.text)),
        );
        found = true;
    }
    if found {
        return Ok(text);
    }
    let names: Vec<String> = parts
        .iter()
        .map(|part| format!("`<!-- {}_START -->`", part.name))
        .collect();
    Err(MarkerError::None(names.join(" and ")))
}

/// Returns a text with the line endings of a document.
pub(super) fn with_line_ends_of(document: &str, text: &str) -> String {
    if document.contains("\r\n") {
        text.replace('\n', "\r\n")
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::{MarkedPart, MarkerError, replaced};

    const PARTS: [MarkedPart<'_>; 2] = [
        MarkedPart {
            name: "A",
            text: "new\n",
        },
        MarkedPart {
            name: "B",
            text: "b\n",
        },
    ];

    #[test]
    fn text_between_markers_is_replaced_once_and_the_rest_stays() {
        let once = replaced("x\n<!-- A_START -->\nold\n<!-- A_END -->\ny", &PARTS).unwrap();
        assert_eq!(once, "x\n<!-- A_START -->\nnew\n<!-- A_END -->\ny");
        assert_eq!(replaced(&once, &PARTS).unwrap(), once);
        let inline = replaced("<!-- A_START --><!-- A_END -->", &PARTS).unwrap();
        assert_eq!(inline, "<!-- A_START -->\nnew\n<!-- A_END -->");
        let dos = replaced("<!-- A_START -->\r\n<!-- A_END -->\r\n", &PARTS).unwrap();
        assert_eq!(dos, "<!-- A_START -->\r\nnew\r\n<!-- A_END -->\r\n");
    }

    #[test]
    fn missing_and_unpaired_markers_are_faults() {
        assert!(matches!(replaced("x", &PARTS), Err(MarkerError::None(_))));
        for text in [
            "<!-- A_START -->",
            "<!-- A_END -->",
            "<!-- A_END --><!-- A_START -->",
            "<!-- A_START --><!-- A_START --><!-- A_END -->",
        ] {
            assert!(
                matches!(replaced(text, &PARTS), Err(MarkerError::Pair { .. })),
                "{text}"
            );
        }
    }
}
