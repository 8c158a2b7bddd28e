//! What the parser could not read, in words that say what to change.
//!
//! **Invariant:** the parser's own words reach the user only where no better ones are known.

use granit_parser::{ErrorKind, ScanError};

use super::diagnostics;
use super::limits::MAX_KEY_BYTES;
use crate::codes::matrix as codes;
use rock_diagnostic::{Diagnostic, SourceText, Span};

/// The diagnostic of a parser's error. `text` begins `base` bytes into the source.
pub(super) fn syntax_diagnostic(
    error: &ScanError,
    source: &SourceText,
    base: usize,
    text: &str,
) -> Diagnostic {
    let marker = error.marker();
    let offset = marker.byte_offset().unwrap_or(text.len()).min(text.len()) + base;
    let at = spot(&source.text, offset);
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
        kind => {
            let tab_indented = line_of(&source.text, at.start)
                .trim_start_matches(' ')
                .starts_with('\t');
            if tab_indented {
                return diagnostics::tab(source, line_indent(&source.text, at.start));
            }
            if let Some(opening) =
                open_bracket(&source.text, at.start).filter(|_| is_about_structure(kind))
            {
                let bracket = &source.text[opening..=opening];
                let closing = if bracket == "[" { "]" } else { "}" };
                let message =
                    format!("the `{bracket}` is not closed: write `{closing}` after its last item");
                return Diagnostic::new(&codes::BAD_SYNTAX, message)
                    .at(source.location(opening..opening + 1), "opens here")
                    .also(source.location(at), "this cannot stand inside it")
                    .help("close it in the line where it opens, or indent the lines in between");
            }
            let begins_line = source.text[line_start(&source.text, at.start)..at.start]
                .trim()
                .is_empty();
            let line = line_of(&source.text, at.start);
            let (message, help) = match kind {
                ErrorKind::ExpectedDocumentStart
                    if begins_line && starts_indented(&source.text) =>
                {
                    (
                        "the line is indented less than the first one of the file".into(),
                        "begin every key of the file in the first column",
                    )
                }
                ErrorKind::SimpleKeyExpected
                    if line.find(':').is_some_and(|end| end > MAX_KEY_BYTES) =>
                {
                    (
                        "the key is longer than the 1024 characters that YAML allows".into(),
                        "shorten it",
                    )
                }
                ErrorKind::SimpleKeyExpected
                | ErrorKind::ExpectedBlockMappingKey
                | ErrorKind::InvalidIndentation
                    if begins_line && line_of(&source.text, at.start).contains(':') =>
                {
                    (
                        "the line is indented like no line above it".into(),
                        "indent the keys of one mapping alike",
                    )
                }
                _ => plain_words(kind),
            };
            Diagnostic::new(&codes::BAD_SYNTAX, message)
                .at(source.location(at), "")
                .help(help)
        }
    }
}

/// Whether the first line of the text that is no comment begins with blanks.
fn starts_indented(text: &str) -> bool {
    let mut lines = text
        .lines()
        .filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'));
    lines.next().is_some_and(|line| line.starts_with(' '))
}

fn plain_words(kind: &ErrorKind) -> (String, &'static str) {
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
            "a quoted text is never closed".into(),
            "close it with the quote that it begins with",
        ),
        ErrorKind::InvalidTrailingSingleQuotedScalar
        | ErrorKind::InvalidTrailingDoubleQuotedScalar => (
            "something follows the closing quote".into(),
            "put the whole text in one pair of quotes, or a `,` between two",
        ),
        ErrorKind::UnknownQuotedScalarEscape => (
            "an unknown escape in a text in double quotes".into(),
            "write `\\\\` for a backslash, or use single quotes",
        ),
        ErrorKind::MappingValueNotAllowed | ErrorKind::InvalidColonPlacement => (
            "a `:` where no key can stand: a text that holds `: ` must be quoted".into(),
            "quote the text, or put the second key on a line of its own",
        ),
        ErrorKind::SimpleKeyExpected
        | ErrorKind::ExpectedBlockMappingKey
        | ErrorKind::InvalidSimpleKey => (
            "a key with its `:` is expected here".into(),
            "write `key: value`, with a space after the colon",
        ),
        ErrorKind::InvalidIndentation | ErrorKind::ExpectedBlockSequenceEntry => (
            "the indentation fits neither the line above nor a new level".into(),
            "indent keys of one mapping alike",
        ),
        ErrorKind::BlockSequenceEntryNotAllowed | ErrorKind::BlockEntryInFlowCollection => (
            "a `-` where no list item can stand".into(),
            "put items of a list on lines of their own, below the key",
        ),
        kind => (
            format!("this is not YAML: {kind}"),
            "mend the line; `rock-matrix init` shows a file that is right",
        ),
    }
}

/// The character at an offset, or the last one of the text, so that there is something to point at.
fn spot(text: &str, offset: usize) -> Span {
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

fn line_start(text: &str, offset: usize) -> usize {
    text[..offset].rfind('\n').map_or(0, |i| i + 1)
}

fn line_of(text: &str, offset: usize) -> &str {
    text[line_start(text, offset)..]
        .lines()
        .next()
        .unwrap_or_default()
}

fn line_indent(text: &str, offset: usize) -> Span {
    let start = line_start(text, offset);
    let line = line_of(text, offset);
    start..start + line.len() - line.trim_start().len()
}

/// Whether an error may come from a bracket that was opened before and not closed.
fn is_about_structure(kind: &ErrorKind) -> bool {
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

/// The last bracket before an offset, in an earlier line or the same, that is still open there.
/// Quoted texts and comments are skipped.
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

/// The characters from an offset to the next space or bracket.
fn word(text: &str, start: usize) -> Span {
    let length = text[start..].find(|c: char| c.is_whitespace() || matches!(c, ',' | ']' | '}'));
    start..length.map_or(text.len(), |length| start + length)
}
