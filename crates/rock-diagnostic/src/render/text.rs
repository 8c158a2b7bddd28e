//! Escapes control characters of text for terminals and logs.

use std::borrow::Cow;
use std::fmt::Write;

/// Escapes control characters, including line breaks, and invisible characters.
///
/// ```
/// assert_eq!(rock_diagnostic::render::escape_line("a\nb\u{1b}[31m"), r"a\nb\u{1b}[31m");
/// ```
pub fn escape_line(text: &str) -> String {
    escape(text, false)
}

/// Escapes control characters and invisible characters, but keeps line feeds.
pub fn escape_block(text: &str) -> String {
    escape(text, true)
}

fn escape(text: &str, keep_lines: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' if keep_lines => out.push(c),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() || is_invisible(c) => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}

/// Makes a text safe to print to a terminal or the log of a workflow.
///
/// Escapes control characters except line breaks and tabs, invisible characters, and the markers of
/// GitHub workflow commands (`::` at the start of a line, `##[`). Returns all other text unchanged.
///
/// In JSON or JSON lines, the escapes are those of JSON, so that the values do not change.
pub fn sanitize_output(text: &str) -> Cow<'_, str> {
    // A carriage return without a line feed lets text overwrite the line.
    let has_return = text
        .match_indices('\r')
        .any(|(at, _)| !text[at + 1..].starts_with('\n'));
    // Most texts need no escapes; a scan of bytes is much faster than one of characters and lines.
    let has_command =
        ["::", "##["].iter().any(|mark| text.contains(mark)) && text.lines().any(is_command);
    if !has_command
        && !has_return
        && (text.bytes().all(is_part_of_plain_text) || !text.contains(is_terminal_control))
    {
        return Cow::Borrowed(text);
    }
    if is_json(text) || text.lines().all(is_json) {
        let text = text.replace("##[", "#\\u0023[");
        let escaped = text.chars().map(|c| match c {
            c if is_terminal_control(c) => format!("\\u{:04x}", u32::from(c)),
            c => c.to_string(),
        });
        return Cow::Owned(escaped.collect());
    }
    let lines = text.split_inclusive('\n').map(|line| {
        let line = escape_controls_keep_whitespace(line);
        if !is_command(&line) {
            return line;
        }
        line.replace("##[", "#\\u{23}[").replacen(
            "::",
            "\\u{3a}:",
            usize::from(line.trim_start().starts_with("::")),
        )
    });
    Cow::Owned(lines.collect())
}

/// Returns whether a character is a control character other than a line break or tab, or invisible.
fn is_terminal_control(c: char) -> bool {
    !"\r\n\t".contains(c) && (c.is_control() || is_invisible(c))
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// Returns whether a byte of UTF-8 cannot be part of a character that [`sanitize_output`] may
/// escape.
///
/// C1 control characters start with the byte C2, those of [`is_invisible`] with E2 and EF.
fn is_part_of_plain_text(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n') || (byte >= b' ' && !matches!(byte, 0x7f | 0xc2 | 0xe2 | 0xef))
}

/// Escapes control characters and invisible characters, but keeps line breaks (`\n`, `\r\n`) and
/// tabs.
pub fn escape_controls_keep_whitespace(text: &str) -> String {
    text.split("\r\n")
        .map(|lines| {
            lines
                .split('\t')
                .map(|part| escape(part, true))
                .collect::<Vec<_>>()
                .join("\t")
        })
        .collect::<Vec<_>>()
        .join("\r\n")
}

/// Escapes DEL, the C1 control characters, which some terminals interpret like ESC sequences, and
/// invisible characters.
pub(super) fn escape_c1_controls(text: String) -> String {
    let is_escaped = |c: char| matches!(c, '\u{7f}'..='\u{9f}') || is_invisible(c);
    if !text.contains(is_escaped) {
        return text;
    }
    text.chars()
        .map(|c| {
            if is_escaped(c) {
                format!("\\u{{{:x}}}", u32::from(c))
            } else {
                c.to_string()
            }
        })
        .collect()
}

/// Returns whether the GitHub runner takes a line for a workflow command (actions/runner,
/// `ActionCommand.cs`, `TryParseV2` and `TryParse`).
fn is_command(line: &str) -> bool {
    line.trim_start().starts_with("::") || line.contains("##[")
}

/// Returns whether a character has no width, is a line separator or changes the direction of text
/// (Unicode UAX 9 and UAX 14).
pub fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::{is_invisible, is_part_of_plain_text, sanitize_output};

    #[test]
    fn escaped_characters_have_a_byte_that_plain_text_does_not() {
        let escaped = ('\0'..=char::MAX)
            .filter(|c| !"\n\t".contains(*c) && (c.is_control() || is_invisible(*c)));
        for c in escaped {
            assert!(!c.to_string().bytes().all(is_part_of_plain_text), "{c:?}");
        }
    }

    #[test]
    fn plain_text_is_unchanged() {
        for text in [
            "a\r\nb\r\n",
            "",
            "a\tb\n",
            "é 🙂\n",
            "a::b ::c # # [\n",
            "{\"a\": \"::error::\"}\n",
        ] {
            assert_eq!(sanitize_output(text), text);
        }
    }

    #[test]
    fn control_characters_and_commands_are_escaped() {
        for (text, shown) in [
            (
                "a\u{1b}[31mb\rc\u{9b}d\u{202e}e\n",
                "a\\u{1b}[31mb\\rc\\u{9b}d\\u{202e}e\n",
            ),
            (
                "::error::x is published\n",
                "\\u{3a}:error::x is published\n",
            ),
            (
                "a\n \t::stop-commands::x\nb ##[error]c",
                "a\n \t\\u{3a}:stop-commands::x\nb #\\u{23}[error]c",
            ),
        ] {
            assert_eq!(sanitize_output(text), shown);
            assert!(!shown.lines().any(super::is_command));
        }
    }

    #[test]
    fn values_of_json_do_not_change() {
        let value = serde_json::json!({"a": "x\u{9b}\u{200b}\u{7f}##[error]y\u{1b}"});
        for text in [format!("{value:#}\n"), format!("{value}\n{value}\n")] {
            let shown = sanitize_output(&text);
            assert!(shown.is_ascii() && !shown.contains("##["), "{shown}");
            let rows = serde_json::Deserializer::from_str(&shown).into_iter::<serde_json::Value>();
            assert!(rows.map(Result::unwrap).all(|row| row == value), "{shown}");
        }
    }

    #[test]
    fn c1_controls_are_escaped() {
        let text = super::escape_c1_controls("é\u{1b}[1ma\u{9b}b\u{85}\u{200b}\n".to_owned());
        assert_eq!(text, "é\u{1b}[1ma\\u{9b}b\\u{85}\\u{200b}\n");
    }
}
