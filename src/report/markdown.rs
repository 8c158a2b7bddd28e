//! Markdown in which no text from outside has a meaning (GitHub Flavored Markdown 0.29).

use std::collections::BTreeSet;

/// A text on one line in which no character is markup, no name is a mention and no number a reference.
pub(super) fn text(raw: &str) -> String {
    let mut escaped = String::with_capacity(raw.len());
    for c in plain(raw).chars() {
        match c {
            // GitHub makes mentions and references after the markup is done; nothing but a character between stops it.
            '@' | '#' => escaped.extend(['\\', c, '\u{2060}']),
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '~' | '$' | '&' => escaped.extend(['\\', c]),
            c => escaped.push(c),
        }
    }
    escaped.trim().to_owned()
}

/// A text on one line as code, for a cell of a table or a heading: `|` would end the cell even there.
pub(super) fn code(raw: &str) -> String {
    let text = plain(raw);
    let fence = "`".repeat(longest_run(&text) + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') || text.trim().is_empty() { " " } else { "" };
    format!("{fence}{pad}{}{pad}{fence}", text.replace('|', "\\|"))
}

/// A link. `label` is Markdown; `address` comes from [`super::addresses`].
pub(super) fn link(label: &str, address: &str) -> String {
    format!("[{label}]({address})")
}

/// A block of lines as they are.
pub(super) fn fenced(language: &str, body: &str) -> String {
    let body: String = body.lines().map(|line| plain(line) + "\n").collect();
    let fence = "`".repeat(longest_run(&body).max(2) + 1);
    format!("{fence}{language}\n{body}{fence}\n")
}

/// Takes a column out of a table that has this head and these rows.
pub(super) fn remove_column(head: &mut Vec<&str>, rows: &mut [Vec<String>], at: usize) {
    head.remove(at);
    for row in rows {
        row.remove(at);
    }
}

/// A table; cells are Markdown.
pub(super) fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let line = |cells: &mut dyn Iterator<Item = &str>| format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "));
    let mut text = line(&mut head.iter().copied());
    text.push_str(&format!("|{}\n", "---|".repeat(head.len())));
    for row in rows {
        text.push_str(&line(&mut row.iter().map(String::as_str)));
    }
    text
}

/// Characters that would break a line or turn its direction are blanks.
fn plain(raw: &str) -> String {
    let is_odd = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
    };
    raw.chars().map(|c| if is_odd(c) { ' ' } else { c }).collect()
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// Names of places in a document, each given once.
#[derive(Debug, Default)]
pub(super) struct Anchors(BTreeSet<String>);

impl Anchors {
    /// A name of letters, digits, `.` and `-` made of these words, with a number where it is taken.
    pub(super) fn place(&mut self, words: &[&str]) -> String {
        let slug: String = words
            .join("-")
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || c == '.' { c.to_ascii_lowercase() } else { '-' })
            .collect();
        let slug = slug.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-");
        let numbered = (2..).map(|number| format!("{slug}-{number}"));
        let free = std::iter::once(slug.clone()).chain(numbered).find(|name| !self.0.contains(name));
        let name = free.unwrap_or(slug);
        self.0.insert(name.clone());
        name
    }
}

#[cfg(test)]
mod tests {
    use super::{Anchors, code, fenced, table, text};

    #[test]
    fn no_text_is_markup_a_mention_or_a_line_of_its_own() {
        assert_eq!(text("a|b\n<script>"), "a\\|b \\<script\\>");
        assert_eq!(text("[x](y) ![z] **b** _i_ `c` $m$"), "\\[x\\](y) !\\[z\\] \\*\\*b\\*\\* \\_i\\_ \\`c\\` \\$m\\$");
        assert_eq!(text("@someone #12"), "\\@\u{2060}someone \\#\u{2060}12");
        assert_eq!(text("a\u{202e}b\u{200b}"), "a b");
        assert_eq!(text("&lt;"), "\\&lt;");
    }

    #[test]
    fn code_cannot_be_left() {
        assert_eq!(code("a|b"), "`a\\|b`");
        assert_eq!(code("a``b"), "```a``b```");
        assert_eq!(code("`"), "`` ` ``");
        assert_eq!(code("<b>\n"), "`<b> `");
        assert_eq!(fenced("sh", "x\n```\ny"), "````sh\nx\n```\ny\n````\n");
    }

    #[test]
    fn a_table_has_a_line_a_row() {
        assert_eq!(table(&["a", "b"], &[vec!["1".into(), "2".into()]]), "| a | b |\n|---|---|\n| 1 | 2 |\n");
    }

    #[test]
    fn places_are_named_once() {
        let mut anchors = Anchors::default();
        assert_eq!(anchors.place(&["Linux x86-64", "flash-attn", "2.8.3"]), "linux-x86-64-flash-attn-2.8.3");
        assert_eq!(anchors.place(&["linux x86", "64 flash-attn", "2.8.3"]), "linux-x86-64-flash-attn-2.8.3-2");
        assert_eq!(anchors.place(&["\"><script>"]), "script");
    }
}
