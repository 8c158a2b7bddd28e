//! Escapes untrusted text for Markdown (GitHub Flavored Markdown 0.29).
//!
//! **Invariant:** [`text`], [`code`] and [`message`] return one line that can be a cell of a table.

use super::counted;
use super::render::is_invisible;

/// Escapes a text so that no character is markup, no name a mention, no number an issue reference
/// and no URL a link. Control characters become spaces.
pub fn text(raw: &str) -> String {
    let mut escaped = String::with_capacity(raw.len());
    let plain = plain(raw);
    let mut before = "";
    for (at, c) in plain.char_indices() {
        let rest = &plain[at + c.len_utf8()..];
        match c {
            // GitHub finds mentions and references after it processed the escapes; only a
            // character in between prevents them.
            '@' | '#' => escaped.extend(['\\', c, '\u{2060}']),
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '~' | '$' | '&' => {
                escaped.extend(['\\', c]);
            }
            // Parsers that do not know escapes could take the text after `]` for a link target.
            '(' if before.ends_with(']') => escaped.extend(['\\', c]),
            // GitHub turns bare URLs into links (GitHub Flavored Markdown 0.29, "Autolinks
            // (extension)").
            ':' if rest.starts_with("//") => escaped.extend(['\\', c]),
            '.' if before.len() >= 3
                && before.as_bytes()[before.len() - 3..].eq_ignore_ascii_case(b"www") =>
            {
                escaped.extend(['\\', c]);
            }
            c => escaped.push(c),
        }
        before = &plain[..at + c.len_utf8()];
    }
    escaped.trim().to_owned()
}

/// Formats a text as a code span for a heading or a cell of a table. `|` is escaped because it ends
/// a cell even inside a code span.
///
/// A text that contains `\|` is escaped with [`text`] instead: in `\\|` inside a cell, cmark-gfm
/// takes the second backslash for the escape, but marked takes the first one (`src/helpers.ts`,
/// `splitCells`), so the cell and the code span would end there.
pub fn code(raw: &str) -> String {
    let text = plain(raw);
    if text.contains("\\|") {
        return self::text(raw);
    }
    let fence = "`".repeat(longest_run(&text) + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') || text.trim().is_empty() {
        " "
    } else {
        ""
    };
    format!("{fence}{pad}{}{pad}{fence}", text.replace('|', "\\|"))
}

/// Escapes a message: text between backquotes becomes code spans, all other text is escaped.
pub fn message(raw: &str) -> String {
    let parts: Vec<&str> = raw.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return text(raw);
    }
    parts
        .iter()
        .enumerate()
        .map(|(index, part)| {
            if index % 2 == 0 {
                spaced_text(part)
            } else if part.is_empty() {
                "\\`\\`".to_owned()
            } else {
                code(part)
            }
        })
        .collect()
}

/// Escapes a text as [`text`] does, but keeps one space for white space at each end.
fn spaced_text(raw: &str) -> String {
    if raw.is_empty() {
        return String::new();
    }
    if raw.trim().is_empty() {
        return " ".to_owned();
    }
    let space = |is_present| if is_present { " " } else { "" };
    let before = space(raw.starts_with(char::is_whitespace));
    let after = space(raw.ends_with(char::is_whitespace));
    format!("{before}{}{after}", text(raw))
}

/// Makes Markdown fit into a cell of a table, by escaping `|` and joining lines.
pub fn cell(markdown: &str) -> String {
    markdown.replace('|', "\\|").replace(['\n', '\r'], " ")
}

/// Formats lines as a fenced code block.
pub fn fenced(language: &str, body: &str) -> String {
    let body: String = body.lines().map(|line| plain(line) + "\n").collect();
    let fence = "`".repeat(longest_run(&body).max(2) + 1);
    format!("{fence}{language}\n{body}{fence}\n")
}

/// The space reserved for the line with the number of omitted rows: 20 digits and a noun of up to
/// 30 letters.
const LAST_LINE: usize = 120;

/// Renders a title, the head of a table and its rows, cut at a row with a line that counts the
/// omitted rows as `noun`. The result never exceeds `room` bytes, and is empty if not even that
/// line fits. Rows end with a line feed.
pub fn limited_table(
    head: &str,
    rows: impl IntoIterator<Item = String>,
    noun: &str,
    room: usize,
) -> String {
    if head.len() + LAST_LINE > room {
        let line = format!(
            "\n{} omitted from this summary, which is full.\n",
            counted(rows.into_iter().count(), noun)
        );
        return if line.len() <= room {
            line
        } else {
            String::new()
        };
    }
    let mut text = head.to_owned();
    let mut rows = rows.into_iter();
    while let Some(row) = rows.next() {
        if text.len() + row.len() + LAST_LINE > room {
            let left = 1 + rows.count();
            text.push_str(&format!(
                "\n{} omitted from this summary, which is full.\n",
                counted(left, noun)
            ));
            break;
        }
        text.push_str(&row);
    }
    text
}

/// Replaces control characters and invisible ones, such as direction marks, with spaces.
fn plain(raw: &str) -> String {
    raw.replace(|c: char| c.is_control() || is_invisible(c), " ")
}

/// Returns the length of the longest sequence of backquotes.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{cell, code, fenced, limited_table, message, text};

    const HEAD: &str = "### x\n\n| a |\n| --- |\n";

    fn rows(count: usize) -> impl Iterator<Item = String> {
        (0..count).map(|number| format!("| {number:06} |\n"))
    }

    #[test]
    fn text_has_no_markup_mention_or_line_break() {
        assert_eq!(text("a|b\n<script>"), "a\\|b \\<script\\>");
        assert_eq!(
            text("[x](y) ![z] **b** _i_ `c` $m$"),
            "\\[x\\]\\(y) !\\[z\\] \\*\\*b\\*\\* \\_i\\_ \\`c\\` \\$m\\$"
        );
        assert_eq!(text("@someone #12"), "\\@\u{2060}someone \\#\u{2060}12");
        assert_eq!(text("a\u{202e}b\u{200b}"), "a b");
        assert_eq!(text("&lt;"), "\\&lt;");
        assert_eq!(
            text("gfx942](javascript:alert(1)) (x)"),
            "gfx942\\]\\(javascript:alert(1)) (x)"
        );
        assert_eq!(
            text("https://x.org WWW.x.org a:b"),
            "https\\://x.org WWW\\.x.org a:b"
        );
    }

    #[test]
    fn text_cannot_escape_from_code() {
        assert_eq!(code("a|b"), "`a\\|b`");
        assert_eq!(code("a``b"), "```a``b```");
        assert_eq!(code("`"), "`` ` ``");
        assert_eq!(code("<b>\n"), "`<b> `");
        assert_eq!(
            code("a\\|[b](https://c.org)|`"),
            "a\\\\\\|\\[b\\]\\(https\\://c.org)\\|\\`"
        );
        assert_eq!(fenced("sh", "x\n```\ny"), "````sh\nx\n```\ny\n````\n");
    }

    #[test]
    fn quoted_parts_of_a_message_are_code() {
        assert_eq!(
            message("a `b_c` is *no* `d|e`"),
            "a `b_c` is \\*no\\* `d\\|e`"
        );
        assert_eq!(message("`a`, `b`"), "`a`, `b`");
        assert_eq!(message("an odd ` is _text_"), "an odd \\` is \\_text\\_");
        assert_eq!(message("`` is no rule"), "\\`\\` is no rule");
        assert_eq!(message("a\n| `x\ny` @me"), "a \\| `x y` \\@\u{2060}me");
        assert_eq!(cell("`a|b`\n*c*"), "`a\\|b` *c*");
    }

    #[test]
    fn a_table_fits_its_limit_and_counts_the_omitted_rows() {
        for room in [200, 1000, 1 << 20] {
            let text = limited_table(HEAD, rows(150_000), "row", room);
            assert!(
                text.len() <= room && text.len() + 140 > room,
                "{room}: {}",
                text.len()
            );
            let kept = text
                .lines()
                .filter(|line| line.starts_with("| 0") || line.starts_with("| 1"))
                .count();
            let last = format!(
                "\n\n{} rows omitted from this summary, which is full.\n",
                150_000 - kept
            );
            assert!(text.ends_with(&last), "{}", &text[text.len() - 100..]);
        }
    }

    #[test]
    fn a_table_that_fits_is_whole() {
        let text = limited_table(HEAD, rows(3), "row", 1 << 20);
        assert_eq!(text, format!("{HEAD}| 000000 |\n| 000001 |\n| 000002 |\n"));
    }

    #[test]
    fn a_full_summary_gets_the_count_alone_or_nothing() {
        assert_eq!(
            limited_table(HEAD, rows(3), "row", 100),
            "\n3 rows omitted from this summary, which is full.\n"
        );
        assert_eq!(limited_table(HEAD, rows(3), "row", 10), "");
    }
}
