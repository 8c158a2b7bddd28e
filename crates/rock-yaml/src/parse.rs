//! The YAML parser.
//!
//! Input: a [`SourceText`]. Output: a tree of bounded depth and size, and diagnostics.
//!
//! **Invariant:** no recursion on the input's nesting; memory is bounded by the text's length and
//! [`limits`](super::limits).

use granit_parser::{Event, Options, Parser, ScalarStyle};

use super::limits::MAX_DEPTH;
use super::tree_builder::TreeBuilder;
use super::{Node, diagnostics, syntax};
use crate::codes::matrix as codes;
use rock_diagnostic::{Diagnostic, Sink, SourceText};

/// The help for an empty file that may be of any kind.
const EMPTY_FILE_HELP: &str = "write a matrix file, or create one with `rock-matrix init`; \
    `rock-matrix recipe new NAME` creates a recipe";

/// Parses a text with one YAML document and adds diagnostics to the sink.
///
/// Returns `None` after an error that leaves no usable tree: a syntax error, an empty document, an
/// exceeded limit, or a key that is not a scalar. After other errors (duplicate keys, merge keys,
/// tags, a second document), the tree lacks the rejected entries or tags, so that it can still be
/// checked; the sink then [has errors](Sink::has_errors). A byte order mark is a warning.
pub fn parse(source: &SourceText, sink: &mut Sink) -> Option<Node> {
    parse_with_help(source, EMPTY_FILE_HELP, sink)
}

/// Like [`parse`], with the help for an empty document.
pub fn parse_with_help(source: &SourceText, empty_help: &str, sink: &mut Sink) -> Option<Node> {
    let (text, base) = match source.text.strip_prefix('\u{feff}') {
        Some(rest) => {
            sink.push(
                Diagnostic::new(
                    &codes::BYTE_ORDER_MARK,
                    "the file begins with a byte order mark",
                )
                .at(source.location(0..'\u{feff}'.len_utf8()), "")
                .help("save the file as UTF-8 without a byte order mark"),
            );
            (rest, '\u{feff}'.len_utf8())
        }
        None => (&*source.text, 0),
    };
    let mut builder = TreeBuilder::new(source, sink);
    let mut documents = 0;
    for next in Parser::new_from_str_with_options(text, options()) {
        let (event, location) = match next {
            Ok(pair) => pair,
            Err(error) => {
                let diagnostic = syntax::syntax_diagnostic(&error, source, base, text);
                builder.push_diagnostic(diagnostic);
                return None;
            }
        };
        let bytes = location.byte_range().unwrap_or(0..0);
        let span = bytes.start + base..bytes.end + base;
        if let Some(tag) = event.tag() {
            let tag_span = location
                .tag_span()
                .and_then(|span| span.byte_range())
                .map(|tag| tag.start + base..tag.end + base);
            builder.push_diagnostic(diagnostics::tag(
                source,
                tag_span.unwrap_or(span.clone()),
                &tag.original(),
            ));
        }
        let result = match event {
            Event::DocumentStart(..) => {
                documents += 1;
                if documents == 2 {
                    builder.push_diagnostic(diagnostics::second_document(source, span));
                    break;
                }
                Ok(())
            }
            Event::Scalar(text, style, anchor, _) => {
                builder.scalar(span, &text, style == ScalarStyle::Plain, anchor)
            }
            Event::SequenceStart(_, anchor, _) => builder.open_list(span, anchor),
            Event::MappingStart(_, anchor, _) => builder.open_map(span, anchor),
            Event::SequenceEnd | Event::MappingEnd => builder.close(span),
            Event::Alias(anchor) => builder.alias(span, anchor),
            _ => Ok(()),
        };
        if let Err(diagnostic) = result {
            builder.push_diagnostic(diagnostic);
            return None;
        }
    }
    let (root, is_whole) = builder.finish();
    if root.is_none() {
        let message = if text.trim().is_empty() {
            "the file is empty"
        } else {
            "the file contains only comments"
        };
        sink.push(
            Diagnostic::new(&codes::EMPTY_FILE, message)
                .at(source.location(0..0), "")
                .help(empty_help),
        );
    }
    root.filter(|_| is_whole)
}

fn options() -> Options {
    let mut options = Options::default();
    options.emit_comments = false;
    options.flow_nesting_limit = MAX_DEPTH;
    options.block_nesting_limit = MAX_DEPTH;
    options
}

#[cfg(test)]
mod tests {
    use super::parse;
    use crate::limits::{MAX_ALIAS_VALUES, MAX_DEPTH, MAX_KEY_BYTES, MAX_TEXT_BYTES, MAX_VALUES};
    use crate::{Node, NodeValue};
    use rock_diagnostic::{Location, Sink, SourceText};

    fn tree(text: &str) -> Node {
        let mut sink = Sink::new();
        let node = parse(&SourceText::new("m.yaml", text), &mut sink);
        let diagnostics = sink.finish();
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        node.unwrap()
    }

    /// Returns the code of each diagnostic, and the texts that its labels point at.
    fn errors(text: &str) -> Vec<(&'static str, Vec<String>)> {
        let mut sink = Sink::new();
        parse(&SourceText::new("m.yaml", text), &mut sink);
        let slice = |location: &Location| match location {
            Location::Text { source, span } => source.text[span.clone()].to_owned(),
            other => other.to_string(),
        };
        sink.finish()
            .iter()
            .map(|d| {
                (
                    d.code.id,
                    d.labels.iter().map(|l| slice(&l.location)).collect(),
                )
            })
            .collect()
    }

    fn check(text: &str, id: &str, spots: &[&str]) {
        assert_eq!(
            errors(text),
            [(id, spots.iter().map(|s| (*s).to_owned()).collect())],
            "{text:?}"
        );
    }

    #[test]
    fn an_unquoted_version_keeps_its_zero() {
        let root = tree("python: [3.10, \"3.9\"]\n");
        let items = root.get("python").unwrap().items().unwrap();
        assert_eq!(items[0].text(), Some("3.10"));
        assert!(matches!(&items[0].value, NodeValue::Scalar(s) if s.plain));
        assert!(matches!(&items[1].value, NodeValue::Scalar(s) if !s.plain));
    }

    #[test]
    fn every_value_has_its_span() {
        let text = "# ä\na: [x, 'y z']\nb:\n  - c: |\n      l1\n";
        let root = tree(text);
        let a = root.get("a").unwrap();
        assert_eq!(&text[a.span.clone()], "[x, 'y z']");
        assert_eq!(&text[a.items().unwrap()[1].span.clone()], "'y z'");
        let key = &root.entries().unwrap()[1].0;
        assert_eq!((&text[key.span.clone()], key.text.as_str()), ("b", "b"));
        let inner = &root.get("b").unwrap().items().unwrap()[0];
        assert!(
            text[inner.span.clone()].starts_with("c: |"),
            "{:?}",
            &text[inner.span.clone()]
        );
        assert_eq!(inner.get("c").unwrap().text(), Some("l1\n"));
    }

    #[test]
    fn empty_values_are_nothing_and_quoted_ones_are_text() {
        let root = tree("a:\nb: ~\nc: null\nd: ''\ne: 'null'\n");
        let kinds: Vec<_> = root
            .entries()
            .unwrap()
            .iter()
            .map(|(_, v)| v.kind())
            .collect();
        assert_eq!(
            kinds,
            ["nothing", "nothing", "nothing", "a string", "a string"]
        );
    }

    #[test]
    fn a_duplicate_key_shows_both_locations() {
        check("a: 1\nb: 2\na: 3\n", "M001", &["a", "a"]);
        check("x: {k: 1, \"k\": 2}\n", "M001", &["\"k\"", "k"]);
    }

    #[test]
    fn merge_keys_and_tags_are_rejected() {
        check("a: &a {k: 1}\nb:\n  <<: *a\n", "M006", &["<<"]);
        check("a: !!str 3.10\n", "M007", &["!!str"]);
        assert_eq!(errors("a: !e!x 1\n")[0].0, "M007");
    }

    #[test]
    fn an_alias_is_replaced_by_its_anchor() {
        let root = tree("a: &v [1, 2]\nb: *v\n");
        assert_eq!(root.get("b").unwrap().items().unwrap().len(), 2);
        check("a: *nowhere\n", "M009", &["*nowhere"]);
        assert_eq!(errors("a: &a [*a]\n")[0].0, "M009");
    }

    #[test]
    fn nested_aliases_are_rejected_before_they_expand() {
        let mut text = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
        for i in 1..12 {
            let before = format!("*a{}", i - 1);
            text += &format!("a{i}: &a{i} [{}]\n", [before.as_str(); 10].join(","));
        }
        assert_eq!(errors(&text)[0].0, "M008");
    }

    /// The limit counts the memory of copies, so that many aliases of one long text exceed it.
    #[test]
    fn aliases_of_a_long_text_are_counted_by_their_bytes() {
        let long = "x".repeat(MAX_TEXT_BYTES);
        let text =
            |aliases: usize| format!("a: &a {long}\nb: [{}]\n", vec!["*a"; aliases].join(", "));
        assert_eq!(errors(&text(254)), []);
        assert_eq!(
            errors(&text(255)),
            [("M008", vec!["*a".to_owned()])],
            "255 aliases and the anchor's own copy"
        );
    }

    #[test]
    fn anchors_inside_anchors_are_counted_too() {
        let text = |depth: usize| {
            let opening: String = (0..depth).map(|n| format!("&a{n} [")).collect();
            let long = vec!["x".repeat(MAX_TEXT_BYTES); 16].join(", ");
            format!("a: {opening}{long}{}\n", "]".repeat(depth))
        };
        assert_eq!(errors(&text(15)), []);
        assert_eq!(errors(&text(16))[0].0, "M008");
    }

    /// Too many values are rejected before they are stored.
    #[test]
    fn the_number_of_values_has_a_limit() {
        let list = |values: usize| format!("[{}]\n", "x,".repeat(values));
        assert_eq!(errors(&list(MAX_VALUES - 1)), []);
        assert_eq!(errors(&list(MAX_VALUES))[0].0, "M070");
    }

    #[test]
    fn aliases_of_many_values_are_counted() {
        let list = |values: usize| format!("a: &a [{}]\nb: *a\n", "x,".repeat(values - 1));
        assert_eq!(errors(&list(MAX_ALIAS_VALUES)), []);
        assert_eq!(
            errors(&list(MAX_ALIAS_VALUES + 1)),
            [("M008", vec!["*a".to_owned()])]
        );
    }

    #[test]
    fn the_nesting_of_values_has_a_limit() {
        for (open, close) in [("[", "]"), ("{a: ", "}")] {
            let nested = |depth: usize| format!("{}x{}\n", open.repeat(depth), close.repeat(depth));
            assert_eq!(errors(&nested(MAX_DEPTH)), []);
            assert_eq!(errors(&nested(MAX_DEPTH + 1))[0].0, "M010", "{open}");
        }
    }

    #[test]
    fn the_length_of_keys_has_a_limit() {
        for (before, after) in [("? ", ""), ("? '", "'"), ("? |\n ", "\n"), ("a: {? ", "}")] {
            let text = |bytes: usize| format!("{before}{}{after}", "k".repeat(bytes));
            let newline = usize::from(before.contains('\n'));
            assert_eq!(errors(&text(MAX_KEY_BYTES - newline)), [], "{before}");
            assert_eq!(errors(&text(MAX_KEY_BYTES + 1))[0].0, "M072", "{before}");
        }
        let aliased = |bytes: usize| format!("a: &a {}\nb: {{*a : 1}}\n", "k".repeat(bytes));
        assert_eq!(errors(&aliased(MAX_KEY_BYTES)), []);
        assert_eq!(
            errors(&aliased(MAX_KEY_BYTES + 1)),
            [("M072", vec!["*a".to_owned()])]
        );
    }

    #[test]
    fn the_length_of_texts_has_a_limit() {
        for (before, after) in [("a: ", ""), ("- '", "'"), ("a: |\n ", "\n"), ("[", "]")] {
            let text = |bytes: usize| format!("{before}{}{after}", "x".repeat(bytes));
            let newline = usize::from(before.contains('\n'));
            assert_eq!(errors(&text(MAX_TEXT_BYTES - newline)), [], "{before}");
            assert_eq!(errors(&text(MAX_TEXT_BYTES + 1))[0].0, "M072", "{before}");
        }
    }

    #[test]
    fn aliases_count_towards_the_depth() {
        let deep = |inner: &str| format!("{}{inner}{}", "[".repeat(50), "]".repeat(50));
        let text = format!("a: &a {}\nb: &b {}\n", deep("x"), deep("*a"));
        assert_eq!(errors(&text)[0].0, "M010");
    }

    #[test]
    fn ten_megabytes_of_nesting_are_rejected_at_the_limit() {
        for opening in ["[", "{a: ", "- ", "? ", "[{a: "] {
            let text = opening.repeat(10_000_000 / opening.len());
            assert_eq!(errors(&text)[0].0, "M010", "{opening}");
        }
    }

    #[test]
    fn a_byte_order_mark_is_a_warning_and_shifts_no_span() {
        let mut sink = Sink::new();
        let source = SourceText::new("m.yaml", "\u{feff}a: xyz\n");
        let root = parse(&source, &mut sink).unwrap();
        assert_eq!(&source.text[root.get("a").unwrap().span.clone()], "xyz");
        let found = sink.finish();
        assert_eq!(
            (found.len(), found[0].code.id, found[0].is_error()),
            (1, "M005", false)
        );
    }

    #[test]
    fn a_second_document_tabs_and_composite_keys_are_errors() {
        check("a: 1\n---\nb: 2\n", "M011", &["---"]);
        assert_eq!(errors("a:\n\tb: 1\n")[0].0, "M003");
        assert_eq!(errors("? [a, b]\n: 1\n")[0].0, "M013");
        assert_eq!(errors("")[0].0, "M012");
        assert_eq!(errors("# only a comment\n")[0].0, "M012");
    }

    #[test]
    fn an_open_bracket_is_reported_where_it_opens() {
        check("a: [1, 2\nb: 'it, ] # x'\nc: 1\n", "M002", &["[", ":"]);
        check("a: {b: [1, 2}\n", "M002", &["["]);
    }

    #[test]
    fn invalid_syntax_is_an_error() {
        for text in [
            "a: [1, 2\n",
            "a: 'x\n",
            "a: b: c\n",
            "a: ]\n",
            "a: [1}\n",
            "a:\n  - b\n c: d\n",
            "a: \"\\q\"\n",
        ] {
            let found = errors(text);
            assert_eq!(found[0].0, "M002", "{text:?} {found:?}");
        }
    }
}
