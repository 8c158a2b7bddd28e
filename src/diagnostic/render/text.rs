//! Texts made safe for a terminal.

use std::fmt::Write;

/// A text with control characters and invisible direction marks written as escapes, line breaks too.
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

/// Characters that take no room, end a line for some readers or turn the direction of writing (Unicode UAX 9, UAX 14 and
/// the zero-width ones).
pub fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}
