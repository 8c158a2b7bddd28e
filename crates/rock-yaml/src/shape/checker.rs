//! The check of a tree against a shape.

use std::collections::HashSet;
use std::fmt;

use super::{RecordShape, Shape, quoted_words};
use crate::codes::matrix as codes;
use crate::{MapKey, Node, NodeValue};
use rock_diagnostic::{
    Diagnostic, Sink, SourceText,
    nearest::{nearest, with_nearest},
};

/// Checks a tree against a shape and adds a diagnostic for each mismatch.
///
/// A null value of a known key counts as absent; in lists and in mappings with any keys it must
/// have the shape of the values.
pub fn check(node: &Node, shape: &Shape, source: &SourceText, sink: &mut Sink) {
    ShapeChecker { source, sink }.check_value(node, shape, ValueName::File);
}

/// Checks a mapping against a record, for a mapping inside [`Shape::Any`], and adds a diagnostic
/// for each mismatch. Other nodes are not checked.
pub fn check_record(node: &Node, record: &RecordShape, source: &SourceText, sink: &mut Sink) {
    let Some(entries) = node.entries() else {
        return;
    };
    ShapeChecker { source, sink }.check_record(node, entries, record, ValueName::Record(record));
}

/// Plain scalars that people write in place of a list to have nothing in it.
const NO_VALUE: [&str; 5] = ["none", "null", "no", "off", "false"];

/// The state of a check.
struct ShapeChecker<'a> {
    source: &'a SourceText,
    sink: &'a mut Sink,
}

/// The name of a value in messages, formatted only for a diagnostic.
#[derive(Clone, Copy)]
enum ValueName<'a> {
    File,
    Record(&'a RecordShape),
    Field(&'a str),
    Item(&'a Self),
}

impl fmt::Display for ValueName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File => f.write_str("the file"),
            Self::Record(record) => f.write_str(record.name),
            Self::Field(key) => write!(f, "`{}`", truncated(key)),
            Self::Item(of) => write!(f, "an item of {of}"),
        }
    }
}

impl ShapeChecker<'_> {
    fn check_value(&mut self, node: &Node, shape: &Shape, name: ValueName<'_>) {
        match (shape, &node.value) {
            (Shape::Any, _)
            | (Shape::Text, NodeValue::Scalar(_))
            | (Shape::Null, NodeValue::Null) => {}
            (Shape::Integer, NodeValue::Scalar(scalar)) => {
                let digits = scalar.plain && scalar.text.bytes().all(|b| b.is_ascii_digit());
                if !digits || scalar.text.parse::<u64>().is_err() {
                    self.report_number(node, &scalar.text, name);
                }
            }
            (Shape::Boolean, NodeValue::Scalar(scalar)) => {
                if node.boolean().is_none() {
                    self.report_word(node, &scalar.text, scalar.plain, &["true", "false"], name);
                }
            }
            (Shape::Word(words), NodeValue::Scalar(scalar)) => {
                if !words.contains(&scalar.text.as_str()) {
                    self.report_word(node, &scalar.text, true, words, name);
                }
            }
            (Shape::List(of), NodeValue::List(items)) => {
                for item in items {
                    self.check_value(item, of, ValueName::Item(&name));
                }
            }
            (Shape::Map(of), NodeValue::Map(entries)) => {
                for (key, value) in entries {
                    self.check_value(value, of, ValueName::Field(&key.text));
                }
            }
            (Shape::Record(record), NodeValue::Map(entries)) => {
                self.check_record(node, entries, record, name);
            }
            (Shape::AnyOf(shapes), _) => {
                match shapes.iter().find(|shape| accepts_kind(shape, node)) {
                    Some(shape) => self.check_value(node, shape, name),
                    None => self.report_kind(node, shape, name),
                }
            }
            _ => self.report_kind(node, shape, name),
        }
    }

    fn check_record(
        &mut self,
        node: &Node,
        entries: &[(MapKey, Node)],
        record: &RecordShape,
        name: ValueName<'_>,
    ) {
        // Collected once, because a file can have many unknown keys.
        let present: HashSet<&str> = entries
            .iter()
            .filter_map(|(key, _)| record.field(&key.text))
            .map(|field| field.name)
            .collect();
        for (key, value) in entries {
            match record.field(&key.text) {
                Some(_) if value.value == NodeValue::Null => {}
                Some(field) => self.check_value(value, &field.shape, ValueName::Field(field.name)),
                None => self.report_unknown_key(key, &present, record),
            }
        }
        for field in record
            .fields
            .iter()
            .filter(|field| field.required && node.get(field.name).is_none())
        {
            let empty = entries.iter().find(|(key, _)| key.text == field.name);
            let (span, label) = match empty {
                Some((key, _)) => (key.span.clone(), "it has no value"),
                None => (
                    entries
                        .first()
                        .map_or(node.span.clone(), |(key, _)| key.span.clone()),
                    "",
                ),
            };
            let owner = match name {
                ValueName::File => format!("the {}", record.name),
                _ => name.to_string(),
            };
            self.sink.push(
                Diagnostic::new(
                    &codes::MISSING_KEY,
                    format!("{owner} has no `{}`", field.name),
                )
                .at(self.source.location(span), label)
                .note(format!(
                    "`{}` ({}): {}",
                    field.name,
                    field.shape.expected(),
                    first_sentence(field.doc)
                ))
                .help(format!("add `{}:`", field.name)),
            );
        }
    }

    fn report_unknown_key(&mut self, key: &MapKey, present: &HashSet<&str>, record: &RecordShape) {
        let near = nearest(&key.text, record.fields.iter().map(|field| field.name));
        let mut diagnostic = Diagnostic::new(
            &codes::UNKNOWN_KEY,
            with_nearest(
                format!(
                    "unknown key `{}` in {}",
                    truncated(&key.text),
                    with_article(record.name)
                ),
                near,
            ),
        )
        .at(self.source.location(key.span.clone()), "");
        diagnostic = match near {
            Some(near) if !present.contains(near) => {
                diagnostic.help(format!("write `{near}`, or remove the key"))
            }
            Some(near) => diagnostic.help(format!("remove it: `{near}` is already present")),
            None => {
                let names: Vec<_> = record.fields.iter().map(|field| field.name).collect();
                diagnostic
                    .note(format!("known keys: {}", quoted_words(&names)))
                    .help("remove the key")
            }
        };
        self.sink.push(diagnostic);
    }

    fn report_kind(&mut self, node: &Node, shape: &Shape, name: ValueName<'_>) {
        let found = match &node.value {
            NodeValue::Scalar(scalar) => format!("`{}`", truncated(&scalar.text)),
            _ => node.kind().to_owned(),
        };
        let help = match (shape, &node.value) {
            (Shape::List(_), NodeValue::Scalar(scalar)) if scalar.text.contains(',') => {
                format!("put the items in brackets: `[{}]`", truncated(&scalar.text))
            }
            (Shape::List(_), NodeValue::Scalar(scalar))
                if scalar.plain && NO_VALUE.contains(&scalar.text.as_str()) =>
            {
                "write a list, or remove the line".into()
            }
            (Shape::List(_), NodeValue::Scalar(scalar)) => {
                let quote = if scalar.plain { "" } else { "\"" };
                let items = scalar
                    .text
                    .split(|c: char| c == ';' || c == ',' || c.is_whitespace());
                let items: Vec<String> = items
                    .filter(|item| !item.is_empty())
                    .map(|item| format!("{quote}{item}{quote}"))
                    .collect();
                format!("put it in brackets: `[{}]`", truncated(&items.join(", ")))
            }
            (
                Shape::Text | Shape::Word(_) | Shape::Integer | Shape::Boolean,
                NodeValue::List(items),
            ) if items.len() == 1 => "remove the brackets: this key takes one value".into(),
            (Shape::List(_), NodeValue::Map(_)) => "put `- ` before each entry".into(),
            (_, NodeValue::Null) => "write a value, or remove the line".into(),
            (Shape::Map(_) | Shape::Record(_), _) => "write lines of `key: value`".into(),
            _ => format!("write {} here", shape.expected()),
        };
        self.sink.push(
            Diagnostic::new(
                &codes::WRONG_KIND,
                format!("{name} must be {}, not {found}", shape.expected()),
            )
            .at(self.source.location(node.span.clone()), "")
            .help(help),
        );
    }

    fn report_word(
        &mut self,
        node: &Node,
        text: &str,
        plain: bool,
        words: &'static [&'static str],
        name: ValueName<'_>,
    ) {
        let near = nearest(text, words.iter().copied());
        let in_quotes = near == Some(text) && !plain;
        let message = if in_quotes {
            format!("{name} must be {} without quotes", alternatives(words))
        } else {
            format!(
                "{name} must be {}, not `{}`",
                alternatives(words),
                truncated(text)
            )
        };
        let diagnostic = Diagnostic::new(&codes::UNKNOWN_WORD, message)
            .at(self.source.location(node.span.clone()), "");
        let help = match near {
            Some(near) => format!("write `{near}`"),
            None => match text {
                "yes" | "on" if words == ["true", "false"] => "write `true`".into(),
                "no" | "off" if words == ["true", "false"] => "write `false`".into(),
                _ => "choose one of these words".into(),
            },
        };
        self.sink.push(diagnostic.help(help));
    }

    fn report_number(&mut self, node: &Node, text: &str, name: ValueName<'_>) {
        let (message, help) = match text.parse::<u64>() {
            Ok(number) => (
                format!("{name} must be an integer without quotes"),
                format!("write `{number}`"),
            ),
            Err(_) => (
                format!("{name} must be an integer, not `{}`", truncated(text)),
                "write only digits".into(),
            ),
        };
        self.sink.push(
            Diagnostic::new(&codes::BAD_NUMBER, message)
                .at(self.source.location(node.span.clone()), "")
                .help(help),
        );
    }
}

/// Returns whether a shape accepts the kind of a value.
fn accepts_kind(shape: &Shape, node: &Node) -> bool {
    match (shape, &node.value) {
        (Shape::Boolean, NodeValue::Scalar(_)) => node.boolean().is_some(),
        (Shape::AnyOf(shapes), _) => shapes.iter().any(|shape| accepts_kind(shape, node)),
        (Shape::Any, _)
        | (Shape::Text | Shape::Integer | Shape::Word(_), NodeValue::Scalar(_))
        | (Shape::List(_), NodeValue::List(_))
        | (Shape::Map(_) | Shape::Record(_), NodeValue::Map(_))
        | (Shape::Null, NodeValue::Null) => true,
        _ => false,
    }
}

/// Truncates a text for a message.
fn truncated(text: &str) -> String {
    const LONGEST: usize = 60;
    let shown: String = text.chars().take(LONGEST).collect();
    if shown.len() == text.len() {
        shown
    } else {
        format!("{shown}…")
    }
}

/// Returns the first sentence without its full stop.
fn first_sentence(doc: &str) -> &str {
    let end = doc.find(". ").unwrap_or(doc.trim_end_matches('.').len());
    &doc[..end]
}

/// Joins words as `` `a`, `b` or `c` ``.
fn alternatives(words: &[&str]) -> String {
    match words {
        [] => "nothing".into(),
        [one] => format!("`{one}`"),
        [front @ .., last] => format!("{} or `{last}`", quoted_words(front)),
    }
}

/// Prefixes a name with its indefinite article, unless it is quoted.
fn with_article(name: &str) -> String {
    match name {
        _ if name.starts_with('`') => name.to_owned(),
        _ if name.starts_with(['a', 'e', 'i', 'o', 'u']) => format!("an {name}"),
        _ => format!("a {name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{FieldShape, RecordShape, Shape};
    use super::check;
    use crate::parse;
    use rock_diagnostic::{Sink, SourceText};

    const INNER: RecordShape = RecordShape {
        name: "`inner`",
        fields: &[FieldShape {
            name: "word",
            shape: Shape::Word(&["on", "off"]),
            required: true,
            default: "",
            doc: "On or off.",
        }],
    };
    const SAMPLE: Shape = Shape::Record(&RecordShape {
        name: "sample file",
        fields: &[
            FieldShape {
                name: "name",
                shape: Shape::Text,
                required: true,
                default: "",
                doc: "The name. More.",
            },
            FieldShape {
                name: "count",
                shape: Shape::Integer,
                required: false,
                default: "1",
                doc: "",
            },
            FieldShape {
                name: "flag",
                shape: Shape::Boolean,
                required: false,
                default: "false",
                doc: "",
            },
            FieldShape {
                name: "list",
                shape: Shape::List(&Shape::Text),
                required: false,
                default: "[]",
                doc: "",
            },
            FieldShape {
                name: "inner",
                shape: Shape::Record(&INNER),
                required: false,
                default: "",
                doc: "",
            },
            FieldShape {
                name: "either",
                shape: Shape::AnyOf(&[Shape::Text, Shape::List(&Shape::Text)]),
                required: false,
                default: "",
                doc: "",
            },
            FieldShape {
                name: "vars",
                shape: Shape::Map(&Shape::Text),
                required: false,
                default: "{}",
                doc: "",
            },
        ],
    });

    fn messages(text: &str) -> Vec<String> {
        let source = SourceText::new("t", text);
        let mut sink = Sink::new();
        let node = parse(&source, &mut sink).unwrap();
        check(&node, &SAMPLE, &source, &mut sink);
        sink.finish()
            .iter()
            .map(|d| {
                format!(
                    "{} {} / {}",
                    d.code.id,
                    d.message,
                    d.help.as_deref().unwrap_or("")
                )
            })
            .collect()
    }

    #[test]
    fn a_matching_tree_has_no_diagnostics() {
        let text = "name: 3.10\ncount: 8\nflag: true\nlist: [1, a]\ninner: {word: on}\neither: [x]\nvars: {a: 1}\n";
        assert_eq!(messages(text), Vec::<String>::new());
        assert_eq!(
            messages("name: x\neither: y\nlist:\n"),
            Vec::<String>::new()
        );
    }

    #[test]
    fn every_mismatch_is_reported_in_one_run() {
        let text = "count: '8'\nflag: yes\nlist: a, b\ninner: {word: of, wrod: 1}\neither: {}\nvars: [x]\ncuont: 3\nzebra: 1\n";
        let expected = [
            "M021 the sample file has no `name` / add `name:`",
            "M024 `count` must be an integer without quotes / write `8`",
            "M023 `flag` must be `true` or `false`, not `yes` / write `true`",
            "M022 `list` must be a list, not `a, b` / put the items in brackets: `[a, b]`",
            "M023 `word` must be `on` or `off`, not `of` / write `off`",
            "M020 unknown key `wrod` in `inner`; did you mean `word`? / remove it: `word` is \
             already present",
            "M022 `either` must be a string or a list, not a mapping / write a string or a list \
             here",
            "M022 `vars` must be a mapping, not a list / write lines of `key: value`",
            "M020 unknown key `cuont` in a sample file; did you mean `count`? / remove it: `count` \
             is already present",
            "M020 unknown key `zebra` in a sample file / remove the key",
        ];
        let mut found = messages(text);
        found.sort();
        let mut expected = expected.map(str::to_owned).to_vec();
        expected.sort();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_long_key_is_truncated_in_messages() {
        let key = "k".repeat(1000);
        let cut = format!("{}…", "k".repeat(60));
        let found = messages(&format!("name: x\nvars: {{{key}: [a]}}\n{key}: 1\n"));
        let expected = [
            format!(
                "M022 `{cut}` must be a string, not a list / remove the brackets: this key takes \
                 one value"
            ),
            format!("M020 unknown key `{cut}` in a sample file / remove the key"),
        ];
        assert_eq!(found, expected);
    }

    /// Each unknown key is compared with the known ones only, not with all keys of the file.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test bounds a time")]
    fn many_unknown_keys_are_checked_in_time() {
        const RECORD: RecordShape = RecordShape {
            name: "sample",
            fields: &[FieldShape {
                name: "a-rather-long-name-of-a-field",
                shape: Shape::Text,
                required: false,
                default: "",
                doc: "",
            }],
        };
        let began = std::time::Instant::now();
        let keys: String = (0..60_000)
            .map(|number| format!("a-rather-long-name-of-a-field{number}: 1\n"))
            .collect();
        let source = SourceText::new("t", keys);
        let mut sink = Sink::new();
        let node = parse(&source, &mut sink).unwrap();
        check(&node, &Shape::Record(&RECORD), &source, &mut sink);
        assert_eq!(sink.error_count(), 60_000);
        let first = sink.finish().swap_remove(0);
        assert_eq!(
            first.help.unwrap(),
            "write `a-rather-long-name-of-a-field`, or remove the key"
        );
        assert!(began.elapsed().as_secs() < 90, "{:?}", began.elapsed());
    }

    #[test]
    fn an_empty_required_value_and_an_empty_item_are_errors() {
        assert_eq!(
            messages("name:\n"),
            ["M021 the sample file has no `name` / add `name:`"]
        );
        assert_eq!(
            messages("name: x\nlist: [a, ]\ninner:\n  word: on\n"),
            Vec::<String>::new(),
            "a trailing comma adds no item"
        );
        assert_eq!(
            messages("name: x\nlist:\n  -\n"),
            [
                "M022 an item of `list` must be a string, not nothing / write a value, or remove \
                 the line"
            ]
        );
    }
}
