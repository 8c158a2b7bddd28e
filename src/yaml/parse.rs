//! Text to [`Node`] tree, with every syntax fault as a diagnostic.
//!
//! Input: a [`Source`]. Output: a tree whose depth and size are bounded whatever the text is, and diagnostics.
//!
//! **Invariant:** no recursion on the input's nesting; memory is bounded by the text's length plus the alias budget.

use granit_parser::{ErrorKind, Event, Options, Parser, ScalarStyle, ScanError};

use super::build::Builder;
use super::{Node, fault};
use crate::diagnostic::{Diagnostic, Sink, Source, Span, registry::matrix as codes};

/// How deep lists and mappings may nest, aliases included. Matrix and recipe files need six.
pub const DEPTH_LIMIT: usize = 64;
/// How many values aliases may add to a file.
pub const ALIAS_BUDGET: usize = 100_000;

/// Parses one YAML document. Faults go to the sink; `None` when nothing usable is left.
///
/// Duplicate keys, merge keys, tags, aliases that expand beyond the budget, deep nesting and a second document are
/// faults. A byte order mark is a warning.
pub fn parse(source: &Source, sink: &mut Sink) -> Option<Node> {
    let (text, base) = match source.text.strip_prefix('\u{feff}') {
        Some(rest) => {
            sink.push(
                Diagnostic::new(&codes::BYTE_ORDER_MARK, "the file begins with a byte order mark")
                    .at(source.place(0..'\u{feff}'.len_utf8()), "")
                    .help("save the file as UTF-8 without a byte order mark"),
            );
            (rest, '\u{feff}'.len_utf8())
        }
        None => (&*source.text, 0),
    };
    let mut builder = Builder::new(source, sink);
    let mut documents = 0;
    for next in Parser::new_from_str_with_options(text, options()) {
        let (event, span) = match next {
            Ok(pair) => pair,
            Err(error) => {
                let fault = syntax_fault(&error, source, base, text);
                builder.push_fault(fault);
                return None;
            }
        };
        let bytes = span.byte_range().unwrap_or(0..0);
        let span = bytes.start + base..bytes.end + base;
        if let Some(tag) = event.tag() {
            builder.push_fault(fault::tag(source, span.clone(), &tag.original()));
        }
        let usable = match event {
            Event::DocumentStart(..) => {
                documents += 1;
                if documents == 2 {
                    builder.push_fault(fault::second_document(source, span));
                    break;
                }
                true
            }
            Event::Scalar(text, style, anchor, _) => builder.scalar(span, &text, style == ScalarStyle::Plain, anchor),
            Event::SequenceStart(_, anchor, _) => builder.open_list(span, anchor),
            Event::MappingStart(_, anchor, _) => builder.open_map(span, anchor),
            Event::SequenceEnd | Event::MappingEnd => builder.close(span),
            Event::Alias(anchor) => builder.alias(span, anchor),
            _ => true,
        };
        if !usable {
            return None;
        }
    }
    let root = builder.finish();
    if root.is_none() {
        sink.push(
            Diagnostic::new(&codes::EMPTY_FILE, "the file is empty")
                .at(source.place(0..0), "")
                .help("write a matrix file, or let `rock-matrix init` write one"),
        );
    }
    root
}

fn options() -> Options {
    let mut options = Options::default();
    options.emit_comments = false;
    options.flow_nesting_limit = DEPTH_LIMIT;
    options.block_nesting_limit = DEPTH_LIMIT;
    options
}

/// What the parser could not read, in words that say what to change.
fn syntax_fault(error: &ScanError, source: &Source, base: usize, text: &str) -> Diagnostic {
    let marker = error.marker();
    let offset = marker.byte_offset().unwrap_or(text.len()).min(text.len()) + base;
    let at = spot(&source.text, offset);
    match error.kind() {
        ErrorKind::RecursionLimitExceeded => fault::too_deep(source, at),
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabAtBlockScalarStart
        | ErrorKind::TabInPlainScalar => fault::tab(source, at),
        ErrorKind::UnknownAnchor => fault::unknown_anchor(source, at),
        ErrorKind::UndeclaredTagHandle => fault::tag(source, at, "!"),
        ErrorKind::UnexpectedCharacter { character } if character.is_control() => {
            fault::control_character(source, at, *character)
        }
        kind => {
            let tab_indented = line_of(&source.text, at.start).trim_start_matches(' ').starts_with('\t');
            if tab_indented {
                return fault::tab(source, line_indent(&source.text, at.start));
            }
            let (message, help) = plain_words(kind);
            Diagnostic::new(&codes::BAD_SYNTAX, message).at(source.place(at), "").help(help)
        }
    }
}

fn plain_words(kind: &ErrorKind) -> (String, &'static str) {
    match kind {
        ErrorKind::UnclosedFlowCollection { open } => {
            (format!("the `{open}` is never closed"), "close it with the matching bracket")
        }
        ErrorKind::UnexpectedEofFlowSequence | ErrorKind::ExpectedFlowSequenceSeparator => {
            ("the list that begins with `[` is not closed here".into(), "write `,` between items and `]` at the end")
        }
        ErrorKind::UnexpectedEofFlowMapping
        | ErrorKind::UnexpectedEofImplicitFlowMapping
        | ErrorKind::ExpectedFlowMappingSeparator => (
            "the mapping that begins with `{` is not closed here".into(),
            "write `,` between entries and `}` at the end",
        ),
        ErrorKind::MismatchedFlowCollectionEnd { open, close } => {
            (format!("`{open}` is closed with `{close}`"), "use the matching bracket")
        }
        ErrorKind::MisplacedFlowCollectionEnd => {
            ("a closing bracket without an opening one".into(), "remove it, or add the opening bracket")
        }
        ErrorKind::UnclosedQuotedScalar => {
            ("a quoted text is never closed".into(), "close it with the quote that it begins with")
        }
        ErrorKind::InvalidTrailingSingleQuotedScalar | ErrorKind::InvalidTrailingDoubleQuotedScalar => (
            "something follows the closing quote".into(),
            "put the whole text in one pair of quotes, or a `,` between two",
        ),
        ErrorKind::UnknownQuotedScalarEscape => (
            "an unknown escape in a text in double quotes".into(),
            "write `\\\\` for a backslash, or use single quotes",
        ),
        ErrorKind::MappingValueNotAllowed | ErrorKind::InvalidColonPlacement => (
            "a `:` where no key can stand".into(),
            "quote a text that holds `: `, and indent keys of one mapping alike",
        ),
        ErrorKind::SimpleKeyExpected | ErrorKind::ExpectedBlockMappingKey | ErrorKind::InvalidSimpleKey => (
            "a key with its `:` is expected here".into(),
            "write `key: value`, with the same indentation as its neighbours",
        ),
        ErrorKind::InvalidIndentation | ErrorKind::ExpectedBlockSequenceEntry => {
            ("the indentation fits neither the line above nor a new level".into(), "indent keys of one mapping alike")
        }
        ErrorKind::BlockSequenceEntryNotAllowed | ErrorKind::BlockEntryInFlowCollection => {
            ("a `-` where no list item can stand".into(), "put items of a list on lines of their own, below the key")
        }
        kind => (format!("this is not YAML: {kind}"), "mend the line; `rock-matrix init` shows a file that is right"),
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
    text[line_start(text, offset)..].lines().next().unwrap_or_default()
}

fn line_indent(text: &str, offset: usize) -> Span {
    let start = line_start(text, offset);
    let line = line_of(text, offset);
    start..start + line.len() - line.trim_start().len()
}

#[cfg(test)]
mod tests {
    use super::parse;
    use crate::diagnostic::{Sink, Source};
    use crate::yaml::{Node, Value};

    fn tree(text: &str) -> Node {
        let mut sink = Sink::new();
        let node = parse(&Source::new("m.yaml", text), &mut sink);
        let faults = sink.finish();
        assert!(faults.is_empty(), "{faults:?}");
        node.unwrap()
    }

    fn faults(text: &str) -> Vec<(&'static str, Vec<String>)> {
        let mut sink = Sink::new();
        parse(&Source::new("m.yaml", text), &mut sink);
        let slice = |p: &crate::diagnostic::Place| match p {
            crate::diagnostic::Place::Text { source, span } => source.text[span.clone()].to_owned(),
            other => other.to_string(),
        };
        sink.finish().iter().map(|d| (d.code.id, d.labels.iter().map(|l| slice(&l.place)).collect())).collect()
    }

    fn check(text: &str, id: &str, spots: &[&str]) {
        assert_eq!(faults(text), [(id, spots.iter().map(|s| (*s).to_owned()).collect())], "{text:?}");
    }

    /// M18
    #[test]
    fn an_unquoted_version_keeps_its_zero() {
        let root = tree("python: [3.10, \"3.9\"]\n");
        let items = root.get("python").unwrap().items().unwrap();
        assert_eq!(items[0].text(), Some("3.10"));
        assert!(matches!(&items[0].value, Value::Scalar(s) if s.plain));
        assert!(matches!(&items[1].value, Value::Scalar(s) if !s.plain));
    }

    #[test]
    fn every_value_knows_its_bytes() {
        let text = "# ä\na: [x, 'y z']\nb:\n  - c: |\n      l1\n";
        let root = tree(text);
        let a = root.get("a").unwrap();
        assert_eq!(&text[a.span.clone()], "[x, 'y z']");
        assert_eq!(&text[a.items().unwrap()[1].span.clone()], "'y z'");
        let key = &root.entries().unwrap()[1].0;
        assert_eq!((&text[key.span.clone()], key.text.as_str()), ("b", "b"));
        let inner = &root.get("b").unwrap().items().unwrap()[0];
        assert!(text[inner.span.clone()].starts_with("c: |"), "{:?}", &text[inner.span.clone()]);
        assert_eq!(inner.get("c").unwrap().text(), Some("l1\n"));
    }

    #[test]
    fn empty_values_are_nothing_and_quoted_ones_are_text() {
        let root = tree("a:\nb: ~\nc: null\nd: ''\ne: 'null'\n");
        let kinds: Vec<_> = root.entries().unwrap().iter().map(|(_, v)| v.kind()).collect();
        assert_eq!(kinds, ["nothing", "nothing", "nothing", "text", "text"]);
    }

    #[test]
    fn a_duplicate_key_shows_both_places() {
        check("a: 1\nb: 2\na: 3\n", "M001", &["a", "a"]);
        check("x: {k: 1, \"k\": 2}\n", "M001", &["\"k\"", "k"]);
    }

    #[test]
    fn merge_keys_and_tags_are_refused() {
        check("a: &a {k: 1}\nb:\n  <<: *a\n", "M006", &["<<"]);
        check("a: !!str 3.10\n", "M007", &["3.10"]);
        assert_eq!(faults("a: !e!x 1\n")[0].0, "M007");
    }

    #[test]
    fn an_alias_stands_for_its_anchor() {
        let root = tree("a: &v [1, 2]\nb: *v\n");
        assert_eq!(root.get("b").unwrap().items().unwrap().len(), 2);
        check("a: *nowhere\n", "M009", &["*"]);
        assert_eq!(faults("a: &a [*a]\n")[0].0, "M009");
    }

    #[test]
    fn an_alias_bomb_is_refused_before_it_expands() {
        let mut text = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
        for i in 1..12 {
            let before = format!("*a{}", i - 1);
            text += &format!("a{i}: &a{i} [{}]\n", [before.as_str(); 10].join(","));
        }
        assert_eq!(faults(&text)[0].0, "M008");
    }

    #[test]
    fn aliases_cannot_pile_up_depth() {
        let deep = |inner: &str| format!("{}{inner}{}", "[".repeat(50), "]".repeat(50));
        let text = format!("a: &a {}\nb: &b {}\n", deep("x"), deep("*a"));
        assert_eq!(faults(&text)[0].0, "M010");
    }

    #[test]
    fn ten_megabytes_of_nesting_are_refused_at_the_limit() {
        for opening in ["[", "{a: ", "- ", "? ", "[{a: "] {
            let text = opening.repeat(10_000_000 / opening.len());
            assert_eq!(faults(&text)[0].0, "M010", "{opening}");
        }
    }

    #[test]
    fn a_byte_order_mark_is_named_and_shifts_nothing() {
        let mut sink = Sink::new();
        let source = Source::new("m.yaml", "\u{feff}a: xyz\n");
        let root = parse(&source, &mut sink).unwrap();
        assert_eq!(&source.text[root.get("a").unwrap().span.clone()], "xyz");
        let found = sink.finish();
        assert_eq!((found.len(), found[0].code.id, found[0].is_error()), (1, "M005", false));
    }

    #[test]
    fn a_second_document_tabs_and_composite_keys_are_faults() {
        check("a: 1\n---\nb: 2\n", "M011", &["---"]);
        assert_eq!(faults("a:\n\tb: 1\n")[0].0, "M003");
        assert_eq!(faults("? [a, b]\n: 1\n")[0].0, "M013");
        assert_eq!(faults("")[0].0, "M012");
        assert_eq!(faults("# only a comment\n")[0].0, "M012");
    }

    #[test]
    fn broken_text_is_a_fault_with_a_place() {
        for text in ["a: [1, 2\n", "a: 'x\n", "a: b: c\n", "a: ]\n", "a: [1}\n", "a:\n  - b\n c: d\n", "a: \"\\q\"\n"] {
            let found = faults(text);
            assert_eq!(found[0].0, "M002", "{text:?} {found:?}");
        }
    }
}
