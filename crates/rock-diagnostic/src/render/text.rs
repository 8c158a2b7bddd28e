//! Texts made safe for a terminal.

use std::borrow::Cow;
use std::fmt::Write;

/// A text with control characters and invisible direction marks written as escapes, line breaks
/// too.
pub fn visible(text: &str) -> String {
    escape(text, false)
}

/// As [`visible`], but line breaks stay.
pub fn visible_lines(text: &str) -> String {
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

/// A text as it is written to a terminal or a log: what would steer a terminal is shown as an
/// escape, and so is what would make the runner of a workflow take a line for a command. A text
/// without such is what it was.
///
/// Lines and tabs stay. In JSON, which escapes other control characters itself, what is left of
/// them becomes an escape of JSON, so that it reads as it did.
pub fn printable(text: &str) -> Cow<'_, str> {
    let steers =
        |letter: char| !"\r\n\t".contains(letter) && (letter.is_control() || is_invisible(letter));
    // One that does not end a line goes back to its beginning.
    let has_return = text
        .match_indices('\r')
        .any(|(at, _)| !text[at + 1..].starts_with('\n'));
    // Most texts are long and have none of it, which bytes tell much faster than characters and
    // lines.
    let has_command =
        ["::", "##["].iter().any(|mark| text.contains(mark)) && text.lines().any(is_command);
    if !has_command
        && !has_return
        && (text.bytes().all(is_part_of_plain_text) || !text.contains(steers))
    {
        return Cow::Borrowed(text);
    }
    let is_json = |text: &str| serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
    if is_json(text) || text.lines().all(is_json) {
        let text = text.replace("##[", "#\\u0023[");
        let escaped = text.chars().map(|letter| match letter {
            letter if steers(letter) => format!("\\u{:04x}", u32::from(letter)),
            letter => letter.to_string(),
        });
        return Cow::Owned(escaped.collect());
    }
    let lines = text.split_inclusive('\n').map(|line| {
        let line = without_controls(line);
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

/// Whether a byte of UTF-8 neither is a control character other than a tab or a line feed nor
/// begins a character that may steer a terminal: C1 controls begin with C2, those of
/// [`is_invisible`] with E2 and EF.
fn is_part_of_plain_text(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n') || (byte >= b' ' && !matches!(byte, 0x7f | 0xc2 | 0xe2 | 0xef))
}

/// A text with escapes for what would steer a terminal; lines and tabs stay.
pub fn without_controls(text: &str) -> String {
    let escaped = |line: &str| {
        line.split('\t')
            .map(|part| escape(part, true))
            .collect::<Vec<_>>()
            .join("\t")
    };
    text.split("\r\n")
        .map(escaped)
        .collect::<Vec<_>>()
        .join("\r\n")
}

/// Escapes the control characters after ASCII, which some terminals obey as they obey ESC, and
/// characters without a shape.
pub(super) fn without_late_controls(text: String) -> String {
    let steers = |c: char| matches!(c, '\u{7f}'..='\u{9f}') || is_invisible(c);
    if !text.contains(steers) {
        return text;
    }
    text.chars()
        .map(|c| {
            if steers(c) {
                format!("\\u{{{:x}}}", u32::from(c))
            } else {
                c.to_string()
            }
        })
        .collect()
}

/// Whether the runner of a workflow would take a line for a command (actions/runner,
/// `ActionCommand.cs`, `TryParseV2` and `TryParse`).
fn is_command(line: &str) -> bool {
    line.trim_start().starts_with("::") || line.contains("##[")
}

/// Characters that take no room, end a line for some readers or turn the direction of writing
/// (Unicode UAX 9, UAX 14 and the zero-width ones).
pub fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::{is_invisible, is_part_of_plain_text, printable};

    #[test]
    fn what_steers_a_terminal_has_a_byte_that_plain_text_has_not() {
        let steering = ('\0'..=char::MAX)
            .filter(|c| !"\n\t".contains(*c) && (c.is_control() || is_invisible(*c)));
        for c in steering {
            assert!(!c.to_string().bytes().all(is_part_of_plain_text), "{c:?}");
        }
    }

    #[test]
    fn a_plain_text_is_printed_as_it_is() {
        for text in [
            "a\r\nb\r\n",
            "",
            "a\tb\n",
            "é 🙂\n",
            "a::b ::c # # [\n",
            "{\"a\": \"::error::\"}\n",
        ] {
            assert_eq!(printable(text), text);
        }
    }

    #[test]
    fn what_steers_a_terminal_or_a_runner_is_shown_as_an_escape() {
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
            assert_eq!(printable(text), shown);
            assert!(!shown.lines().any(super::is_command));
        }
    }

    #[test]
    fn json_reads_as_it_did() {
        let value = serde_json::json!({"a": "x\u{9b}\u{200b}\u{7f}##[error]y\u{1b}"});
        for text in [format!("{value:#}\n"), format!("{value}\n{value}\n")] {
            let shown = printable(&text);
            assert!(shown.is_ascii() && !shown.contains("##["), "{shown}");
            let rows = serde_json::Deserializer::from_str(&shown).into_iter::<serde_json::Value>();
            assert!(rows.map(Result::unwrap).all(|row| row == value), "{shown}");
        }
    }

    #[test]
    fn controls_after_ascii_are_shown_as_escapes() {
        let text = super::without_late_controls("é\u{1b}[1ma\u{9b}b\u{85}\u{200b}\n".to_owned());
        assert_eq!(text, "é\u{1b}[1ma\\u{9b}b\\u{85}\\u{200b}\n");
    }
}
