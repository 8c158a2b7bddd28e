//! Markdown in which no text from outside has a meaning (GitHub Flavored Markdown 0.29).
//!
//! **Invariant:** what comes out of [`text`], [`code`] and [`message`] is one line, and a cell of a
//! table.

/// Returns a text on one line in which no character is markup, no name is a mention, no number a
/// reference and no address a link.
pub fn text(raw: &str) -> String {
    let mut escaped = String::with_capacity(raw.len());
    let plain = plain(raw);
    let mut before = "";
    for (at, c) in plain.char_indices() {
        let rest = &plain[at + c.len_utf8()..];
        match c {
            // GitHub makes mentions and references after the markup is done; nothing but a
            // character between stops it.
            '@' | '#' => escaped.extend(['\\', c, '\u{2060}']),
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '~' | '$' | '&' => {
                escaped.extend(['\\', c]);
            }
            // What follows a bracket could be the address of a link for readers that know no
            // escapes.
            '(' if before.ends_with(']') => escaped.extend(['\\', c]),
            // GitHub makes links of bare addresses (GitHub Flavored Markdown 0.29, "Autolinks
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

/// Returns a text on one line as code, for a cell of a table or a heading: `|` would end the cell
/// even there.
///
/// A text with `\|` is escaped, and not marked as code: of `\\|` in a cell cmark-gfm takes the
/// second backslash for an escape, and marked takes the first one (`src/helpers.ts`, `splitCells`),
/// so that its cell and its code end there.
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

/// A message on one line: what stands between backquotes is code, the rest is text.
pub fn message(raw: &str) -> String {
    let parts: Vec<&str> = raw.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return text(raw);
    }
    let ends = |text: &str| {
        (
            text.starts_with(char::is_whitespace),
            text.ends_with(char::is_whitespace),
        )
    };
    let blank = |is_there: bool| if is_there { " " } else { "" };
    let part = |(at, part): (usize, &&str)| match (at % 2, ends(part)) {
        (1, _) if !part.is_empty() => code(part),
        (1, _) => "\\`\\`".to_owned(),
        (_, _) if part.trim().is_empty() => blank(!part.is_empty()).to_owned(),
        (_, (before, after)) => format!("{}{}{}", blank(before), text(part), blank(after)),
    };
    parts.iter().enumerate().map(part).collect()
}

/// What is Markdown already, as a cell of a table.
pub fn cell(markdown: &str) -> String {
    markdown.replace('|', "\\|").replace(['\n', '\r'], " ")
}

/// A block of lines as they are.
pub fn fenced(language: &str, body: &str) -> String {
    let body: String = body.lines().map(|line| plain(line) + "\n").collect();
    let fence = "`".repeat(longest_run(&body).max(2) + 1);
    format!("{fence}{language}\n{body}{fence}\n")
}

/// Characters that would break a line or turn its direction are blanks.
fn plain(raw: &str) -> String {
    let is_odd = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
    };
    raw.chars()
        .map(|c| if is_odd(c) { ' ' } else { c })
        .collect()
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{cell, code, fenced, message, text};

    #[test]
    fn no_text_is_markup_a_mention_or_a_line_of_its_own() {
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
    fn code_cannot_be_left() {
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
    fn of_a_message_what_is_quoted_is_code() {
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
}
