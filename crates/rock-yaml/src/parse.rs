//! Text to [`Node`] tree, with every syntax fault as a diagnostic.
//!
//! Input: a [`Source`]. Output: a tree whose depth and size are bounded whatever the text is, and
//! diagnostics.
//!
//! **Invariant:** no recursion on the input's nesting; memory is bounded by the text's length and
//! [`limits`](super::limits).

use granit_parser::{Event, Options, Parser, ScalarStyle};

use super::limits::MAX_DEPTH;
use super::tree_builder::TreeBuilder;
use super::{Node, diagnostics, syntax};
use crate::codes::matrix as codes;
use rock_diagnostic::{Diagnostic, Sink, SourceText};

/// Parses one YAML document. Faults go to the sink; `None` when nothing usable is left.
///
/// Duplicate keys, merge keys, tags, aliases that expand beyond the budget, deep nesting, long keys
/// and texts and a second document are faults. A byte order mark is a warning.
pub fn parse(source: &SourceText, sink: &mut Sink) -> Option<Node> {
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
        let (event, place) = match next {
            Ok(pair) => pair,
            Err(error) => {
                let fault = syntax::syntax_diagnostic(&error, source, base, text);
                builder.push_fault(fault);
                return None;
            }
        };
        let bytes = place.byte_range().unwrap_or(0..0);
        let span = bytes.start + base..bytes.end + base;
        if let Some(tag) = event.tag() {
            let at = place
                .tag_span()
                .and_then(|span| span.byte_range())
                .map(|tag| tag.start + base..tag.end + base);
            builder.push_fault(diagnostics::tag(
                source,
                at.unwrap_or(span.clone()),
                &tag.original(),
            ));
        }
        let usable = match event {
            Event::DocumentStart(..) => {
                documents += 1;
                if documents == 2 {
                    builder.push_fault(diagnostics::second_document(source, span));
                    break;
                }
                true
            }
            Event::Scalar(text, style, anchor, _) => {
                builder.scalar(span, &text, style == ScalarStyle::Plain, anchor)
            }
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
    let (root, is_whole) = builder.finish();
    if root.is_none() {
        let what = if text.trim().is_empty() {
            "the file is empty"
        } else {
            "the file holds nothing but comments"
        };
        sink.push(
            Diagnostic::new(&codes::EMPTY_FILE, what)
                .at(source.location(0..0), "")
                .help("write a matrix file, or let `rock-matrix init` write one"),
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
    use rock_diagnostic::{Sink, SourceText};

    fn tree(text: &str) -> Node {
        let mut sink = Sink::new();
        let node = parse(&SourceText::new("m.yaml", text), &mut sink);
        let faults = sink.finish();
        assert!(faults.is_empty(), "{faults:?}");
        node.unwrap()
    }

    fn faults(text: &str) -> Vec<(&'static str, Vec<String>)> {
        let mut sink = Sink::new();
        parse(&SourceText::new("m.yaml", text), &mut sink);
        let slice = |p: &rock_diagnostic::Location| match p {
            rock_diagnostic::Location::Text { source, span } => {
                source.text[span.clone()].to_owned()
            }
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
            faults(text),
            [(id, spots.iter().map(|s| (*s).to_owned()).collect())],
            "{text:?}"
        );
    }

    /// M18
    #[test]
    fn an_unquoted_version_keeps_its_zero() {
        let root = tree("python: [3.10, \"3.9\"]\n");
        let items = root.get("python").unwrap().items().unwrap();
        assert_eq!(items[0].text(), Some("3.10"));
        assert!(matches!(&items[0].value, NodeValue::Scalar(s) if s.plain));
        assert!(matches!(&items[1].value, NodeValue::Scalar(s) if !s.plain));
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
        check("a: !!str 3.10\n", "M007", &["!!str"]);
        assert_eq!(faults("a: !e!x 1\n")[0].0, "M007");
    }

    #[test]
    fn an_alias_stands_for_its_anchor() {
        let root = tree("a: &v [1, 2]\nb: *v\n");
        assert_eq!(root.get("b").unwrap().items().unwrap().len(), 2);
        check("a: *nowhere\n", "M009", &["*nowhere"]);
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

    /// The budget counts the memory of copies, so that one long text with many aliases is no way
    /// around it.
    #[test]
    fn aliases_of_a_long_text_are_counted_by_their_bytes() {
        let long = "x".repeat(MAX_TEXT_BYTES);
        let text =
            |aliases: usize| format!("a: &a {long}\nb: [{}]\n", vec!["*a"; aliases].join(", "));
        assert_eq!(faults(&text(254)), []);
        assert_eq!(
            faults(&text(255)),
            [("M008", vec!["*a".to_owned()])],
            "255 aliases and the anchor's own copy"
        );
    }

    /// Anchors inside anchors keep a copy each.
    #[test]
    fn anchors_inside_anchors_are_counted_too() {
        let text = |depth: usize| {
            let opening: String = (0..depth).map(|n| format!("&a{n} [")).collect();
            let long = vec!["x".repeat(MAX_TEXT_BYTES); 16].join(", ");
            format!("a: {opening}{long}{}\n", "]".repeat(depth))
        };
        assert_eq!(faults(&text(15)), []);
        assert_eq!(faults(&text(16))[0].0, "M008");
    }

    #[test]
    fn more_values_than_a_file_may_hold_are_refused_before_they_are_kept() {
        let list = |values: usize| format!("[{}]\n", "x,".repeat(values));
        assert_eq!(faults(&list(MAX_VALUES - 1)), []);
        assert_eq!(faults(&list(MAX_VALUES))[0].0, "M070");
    }

    #[test]
    fn aliases_of_many_values_are_counted() {
        let list = |values: usize| format!("a: &a [{}]\nb: *a\n", "x,".repeat(values - 1));
        assert_eq!(faults(&list(MAX_ALIAS_VALUES)), []);
        assert_eq!(
            faults(&list(MAX_ALIAS_VALUES + 1)),
            [("M008", vec!["*a".to_owned()])]
        );
    }

    #[test]
    fn the_nesting_of_values_has_a_limit() {
        for (open, close) in [("[", "]"), ("{a: ", "}")] {
            let nested = |depth: usize| format!("{}x{}\n", open.repeat(depth), close.repeat(depth));
            assert_eq!(faults(&nested(MAX_DEPTH)), []);
            assert_eq!(faults(&nested(MAX_DEPTH + 1))[0].0, "M010", "{open}");
        }
    }

    #[test]
    fn the_length_of_keys_has_a_limit() {
        for (before, after) in [("? ", ""), ("? '", "'"), ("? |\n ", "\n"), ("a: {? ", "}")] {
            let text = |bytes: usize| format!("{before}{}{after}", "k".repeat(bytes));
            let newline = usize::from(before.contains('\n'));
            assert_eq!(faults(&text(MAX_KEY_BYTES - newline)), [], "{before}");
            assert_eq!(faults(&text(MAX_KEY_BYTES + 1))[0].0, "M072", "{before}");
        }
        let aliased = |bytes: usize| format!("a: &a {}\nb: {{*a : 1}}\n", "k".repeat(bytes));
        assert_eq!(faults(&aliased(MAX_KEY_BYTES)), []);
        assert_eq!(
            faults(&aliased(MAX_KEY_BYTES + 1)),
            [("M072", vec!["*a".to_owned()])]
        );
    }

    #[test]
    fn the_length_of_texts_has_a_limit() {
        for (before, after) in [("a: ", ""), ("- '", "'"), ("a: |\n ", "\n"), ("[", "]")] {
            let text = |bytes: usize| format!("{before}{}{after}", "x".repeat(bytes));
            let newline = usize::from(before.contains('\n'));
            assert_eq!(faults(&text(MAX_TEXT_BYTES - newline)), [], "{before}");
            assert_eq!(faults(&text(MAX_TEXT_BYTES + 1))[0].0, "M072", "{before}");
        }
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
    fn a_second_document_tabs_and_composite_keys_are_faults() {
        check("a: 1\n---\nb: 2\n", "M011", &["---"]);
        assert_eq!(faults("a:\n\tb: 1\n")[0].0, "M003");
        assert_eq!(faults("? [a, b]\n: 1\n")[0].0, "M013");
        assert_eq!(faults("")[0].0, "M012");
        assert_eq!(faults("# only a comment\n")[0].0, "M012");
    }

    #[test]
    fn a_bracket_that_is_not_closed_is_named_where_it_opens() {
        check("a: [1, 2\nb: 'it, ] # x'\nc: 1\n", "M002", &["[", ":"]);
        check("a: {b: [1, 2}\n", "M002", &["["]);
    }

    #[test]
    fn broken_text_is_a_fault_with_a_place() {
        for text in [
            "a: [1, 2\n",
            "a: 'x\n",
            "a: b: c\n",
            "a: ]\n",
            "a: [1}\n",
            "a:\n  - b\n c: d\n",
            "a: \"\\q\"\n",
        ] {
            let found = faults(text);
            assert_eq!(found[0].0, "M002", "{text:?} {found:?}");
        }
    }
}
