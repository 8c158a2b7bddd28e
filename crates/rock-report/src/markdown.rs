//! Markdown tables, links and anchor names.

use std::collections::BTreeSet;

pub(super) use rock_diagnostic::markdown::{code, fenced, message, text};

/// Returns a link. `label` is Markdown; `address` comes from [`super::addresses`].
///
/// `&lt;` in an address is `<` (GitHub Flavored Markdown 0.29, "Entity and numeric character
/// references").
pub(super) fn link(label: &str, address: &str) -> String {
    format!("[{label}]({})", address.replace('&', "&amp;"))
}

/// Removes a column from a table.
pub(super) fn remove_column(head: &mut Vec<&str>, rows: &mut [Vec<String>], at: usize) {
    head.remove(at);
    for row in rows {
        row.remove(at);
    }
}

/// Renders a table. Cells are Markdown.
pub(super) fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
    };
    let mut text = line(&mut head.iter().copied());
    text.push_str(&format!("|{}\n", "---|".repeat(head.len())));
    for row in rows {
        text.push_str(&line(&mut row.iter().map(String::as_str)));
    }
    text
}

/// The anchor names of a document, each used once.
#[derive(Debug, Default)]
pub(super) struct AnchorNames(BTreeSet<String>);

impl AnchorNames {
    /// Returns an unused anchor name of letters, digits, `.` and `-` for these words, with a number
    /// appended if the name is taken.
    pub(super) fn place(&mut self, words: &[&str]) -> String {
        let slug: String = words
            .join("-")
            .chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() || c == '.' {
                    c.to_ascii_lowercase()
                } else {
                    '-'
                }
            })
            .collect();
        let slug = slug
            .split('-')
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join("-");
        let numbered = (2..).map(|number| format!("{slug}-{number}"));
        let free = std::iter::once(slug.clone())
            .chain(numbered)
            .find(|name| !self.0.contains(name));
        let name = free.unwrap_or(slug);
        self.0.insert(name.clone());
        name
    }
}

#[cfg(test)]
mod tests {
    use super::{AnchorNames, link, table};

    #[test]
    fn an_entity_in_an_address_is_not_decoded() {
        assert_eq!(
            link("a", "https://x.org/?a&lt=b"),
            "[a](https://x.org/?a&amp;lt=b)"
        );
    }

    #[test]
    fn a_table_has_a_line_a_row() {
        assert_eq!(
            table(&["a", "b"], &[vec!["1".into(), "2".into()]]),
            "| a | b |\n|---|---|\n| 1 | 2 |\n"
        );
    }

    #[test]
    fn places_are_named_once() {
        let mut anchors = AnchorNames::default();
        assert_eq!(
            anchors.place(&["Linux x86-64", "flash-attn", "2.8.3"]),
            "linux-x86-64-flash-attn-2.8.3"
        );
        assert_eq!(
            anchors.place(&["linux x86", "64 flash-attn", "2.8.3"]),
            "linux-x86-64-flash-attn-2.8.3-2"
        );
        assert_eq!(anchors.place(&["\"><script>"]), "script");
    }
}
