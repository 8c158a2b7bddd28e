//! Diagnostics of syntax errors.
//!
//! The parser reports where it stopped; the functions here look for the cause, such as an open
//! bracket or a tab, and suggest a fix.
//!
//! **Invariant:** the parser's message is shown only for errors without a message here.

use granit_parser::{ErrorKind, ScanError};

use super::diagnostics;
use super::limits::MAX_KEY_BYTES;
use crate::codes::matrix as codes;
use rock_diagnostic::{Diagnostic, SourceText, Span};

/// Converts an error of the parser to a diagnostic. `text` is the part of the source after its
/// first `base` bytes.
pub(super) fn syntax_diagnostic(
    error: &ScanError,
    source: &SourceText,
    base: usize,
    text: &str,
) -> Diagnostic {
    let marker = error.marker();
    let offset = marker.byte_offset().unwrap_or(text.len()).min(text.len()) + base;
    let at = character_at(&source.text, offset);
    match error.kind() {
        ErrorKind::RecursionLimitExceeded => diagnostics::too_deep(source, at),
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabAtBlockScalarStart
        | ErrorKind::TabInPlainScalar => diagnostics::tab(source, at),
        ErrorKind::UnknownAnchor => {
            diagnostics::unknown_anchor(source, word(&source.text, at.start))
        }
        ErrorKind::UndeclaredTagHandle => diagnostics::tag(source, at, "!"),
        ErrorKind::UnexpectedCharacter { character } if character.is_control() => {
            diagnostics::control_character(source, at, *character)
        }
        kind => structure_diagnostic(kind, source, at),
    }
}

/// Returns the diagnostic of an error at `at`, whose cause may be a tab, an open bracket or the
/// indentation before it.
fn structure_diagnostic(kind: &ErrorKind, source: &SourceText, at: Span) -> Diagnostic {
    let text = &source.text;
    let is_tab_indented = line_of(text, at.start)
        .trim_start_matches(' ')
        .starts_with('\t');
    if is_tab_indented {
        return diagnostics::tab(source, line_indent(text, at.start));
    }
    if may_be_open_bracket(kind)
        && let Some(opening) = open_bracket(text, at.start)
    {
        return unclosed_bracket(source, opening, at);
    }
    let (message, help) =
        line_message_and_help(kind, text, at.start).unwrap_or_else(|| message_and_help(kind));
    Diagnostic::new(&codes::BAD_SYNTAX, message)
        .at(source.location(at), "")
        .help(help)
}

fn unclosed_bracket(source: &SourceText, opening: usize, at: Span) -> Diagnostic {
    let bracket = &source.text[opening..=opening];
    let closing = if bracket == "[" { "]" } else { "}" };
    Diagnostic::new(
        &codes::BAD_SYNTAX,
        format!("the `{bracket}` is not closed: write `{closing}` after its last item"),
    )
    .at(source.location(opening..opening + 1), "opens here")
    .also(source.location(at), "this is not allowed inside it")
    .help("close it on the line where it opens, or indent the lines in between")
}

/// Returns the message and help for an error that the line around it explains: a wrong indentation,
/// or a key that is too long.
fn line_message_and_help(
    kind: &ErrorKind,
    text: &str,
    offset: usize,
) -> Option<(String, &'static str)> {
    let line = line_of(text, offset);
    let begins_line = text[line_start(text, offset)..offset].trim().is_empty();
    let (message, help) = match kind {
        ErrorKind::ExpectedDocumentStart if begins_line && starts_indented(text) => (
            "the line is indented less than the first one",
            "begin every key of the file in the first column",
        ),
        ErrorKind::SimpleKeyExpected if line.find(':').is_some_and(|end| end > MAX_KEY_BYTES) => (
            "the key is longer than the 1024 characters that YAML allows",
            "shorten it",
        ),
        ErrorKind::SimpleKeyExpected
        | ErrorKind::ExpectedBlockMappingKey
        | ErrorKind::InvalidIndentation
            if begins_line && line.contains(':') =>
        {
            (
                "the indentation differs from that of every line above",
                "indent the keys of one mapping equally",
            )
        }
        _ => return None,
    };
    Some((message.to_owned(), help))
}

/// Returns whether the first line that is neither empty nor a comment is indented.
fn starts_indented(text: &str) -> bool {
    let mut lines = text
        .lines()
        .filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'));
    lines.next().is_some_and(|line| line.starts_with(' '))
}

/// Returns the message and help for an error whose cause is where the parser stopped.
fn message_and_help(kind: &ErrorKind) -> (String, &'static str) {
    match kind {
        ErrorKind::UnexpectedEofFlowSequence | ErrorKind::ExpectedFlowSequenceSeparator => (
            "the list that begins with `[` is not closed here".into(),
            "write `,` between items and `]` at the end",
        ),
        ErrorKind::UnexpectedEofFlowMapping
        | ErrorKind::UnexpectedEofImplicitFlowMapping
        | ErrorKind::ExpectedFlowMappingSeparator => (
            "the mapping that begins with `{` is not closed here".into(),
            "write `,` between entries and `}` at the end",
        ),
        ErrorKind::MismatchedFlowCollectionEnd { open, close } => (
            format!("`{open}` is closed with `{close}`"),
            "use the matching bracket",
        ),
        ErrorKind::MisplacedFlowCollectionEnd => (
            "a closing bracket without an opening one".into(),
            "remove it, or add the opening bracket",
        ),
        ErrorKind::UnclosedQuotedScalar => (
            "a quoted string is never closed".into(),
            "close it with the quote that it begins with",
        ),
        ErrorKind::InvalidTrailingSingleQuotedScalar
        | ErrorKind::InvalidTrailingDoubleQuotedScalar => (
            "something follows the closing quote".into(),
            "put the whole string in one pair of quotes, or a `,` between two strings",
        ),
        ErrorKind::UnknownQuotedScalarEscape => (
            "unknown escape in a double-quoted string".into(),
            "write `\\\\` for a backslash, or use single quotes",
        ),
        ErrorKind::MappingValueNotAllowed | ErrorKind::InvalidColonPlacement => (
            "a `:` is not allowed here: a string that contains `: ` must be quoted".into(),
            "quote the string, or put the second key on its own line",
        ),
        ErrorKind::SimpleKeyExpected
        | ErrorKind::ExpectedBlockMappingKey
        | ErrorKind::InvalidSimpleKey => (
            "expected a key with a `:` here".into(),
            "write `key: value`, with a space after the colon",
        ),
        ErrorKind::InvalidIndentation | ErrorKind::ExpectedBlockSequenceEntry => (
            "the indentation matches neither the line above nor a new level".into(),
            "indent the keys of one mapping equally",
        ),
        ErrorKind::BlockSequenceEntryNotAllowed | ErrorKind::BlockEntryInFlowCollection => (
            "a list item is not allowed here".into(),
            "put the items of a list on their own lines, below the key",
        ),
        kind => (
            format!("this is not valid YAML: {kind}"),
            "fix the line; `rock-matrix init` writes a valid file",
        ),
    }
}

/// Returns the span of the character at an offset, empty at the end of a line; at the end of the
/// text, an empty span after the last character that is not white space.
fn character_at(text: &str, offset: usize) -> Span {
    let start = text.floor_char_boundary(offset.min(text.len()));
    match text[start..].chars().next() {
        Some(c) if c != '\n' && c != '\r' => start..start + c.len_utf8(),
        Some(_) => start..start,
        None => {
            let end = text.trim_end().len();
            end..end
        }
    }
}

/// Returns the offset of the start of the line that contains an offset.
fn line_start(text: &str, offset: usize) -> usize {
    text[..offset].rfind('\n').map_or(0, |i| i + 1)
}

/// Returns the line that contains an offset.
fn line_of(text: &str, offset: usize) -> &str {
    text[line_start(text, offset)..]
        .lines()
        .next()
        .unwrap_or_default()
}

/// Returns the span of the indentation of the line that contains an offset.
fn line_indent(text: &str, offset: usize) -> Span {
    let start = line_start(text, offset);
    let line = line_of(text, offset);
    start..start + line.len() - line.trim_start().len()
}

/// Returns whether an open bracket before the error can be its cause.
fn may_be_open_bracket(kind: &ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::UnclosedFlowCollection { .. }
            | ErrorKind::MappingValueNotAllowed
            | ErrorKind::InvalidColonPlacement
            | ErrorKind::InvalidIndentation
            | ErrorKind::ExpectedFlowSequenceSeparator
            | ErrorKind::ExpectedFlowMappingSeparator
            | ErrorKind::UnexpectedEofFlowSequence
            | ErrorKind::UnexpectedEofFlowMapping
            | ErrorKind::UnexpectedEofImplicitFlowMapping
            | ErrorKind::BlockEntryInFlowCollection
            | ErrorKind::InvalidFlowScalarIndent
    )
}

/// Returns the offset of the innermost bracket that is open at an offset, ignoring quoted texts and
/// comments.
fn open_bracket(text: &str, offset: usize) -> Option<usize> {
    let bytes = &text.as_bytes()[..offset];
    let (mut open, mut quote, mut at) = (Vec::new(), None, 0);
    while at < bytes.len() {
        let byte = bytes[at];
        let after_space = at == 0 || bytes[at - 1].is_ascii_whitespace();
        match quote {
            Some(b'"') if byte == b'\\' => at += 1,
            Some(mark) if byte == mark => quote = None,
            Some(_) => {}
            None if byte == b'#' && after_space => {
                at += bytes[at..]
                    .iter()
                    .position(|&b| b == b'\n')
                    .unwrap_or(bytes.len() - at);
            }
            None if matches!(byte, b'"' | b'\'')
                && (after_space || matches!(bytes[at - 1], b'[' | b'{' | b',')) =>
            {
                quote = Some(byte);
            }
            None if matches!(byte, b'[' | b'{') => open.push(at),
            None if matches!(byte, b']' | b'}') => drop(open.pop()),
            None => {}
        }
        at += 1;
    }
    open.pop()
}

/// Returns the span from an offset to the next white space, comma or closing bracket.
fn word(text: &str, start: usize) -> Span {
    let length = text[start..].find(|c: char| c.is_whitespace() || matches!(c, ',' | ']' | '}'));
    start..length.map_or(text.len(), |length| start + length)
}
