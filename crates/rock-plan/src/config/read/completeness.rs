//! YAML trees with defaults filled in.

use rock_diagnostic::{Sink, SourceText};
use rock_yaml::shape::{RecordShape, Shape};
use rock_yaml::{MapKey, Node, NodeValue, Scalar, parse};

/// Returns the tree with the default of every field that is absent or empty. Defaults have an empty
/// span at 0.
pub(super) fn complete(node: &Node, shape: &Shape) -> Node {
    match (shape, &node.value) {
        (Shape::Record(record), NodeValue::Map(entries)) => Node {
            span: node.span.clone(),
            value: NodeValue::Map(completed(entries, record)),
        },
        (Shape::List(of), NodeValue::List(items)) => {
            let items = items.iter().map(|item| complete(item, of)).collect();
            Node {
                span: node.span.clone(),
                value: NodeValue::List(items),
            }
        }
        (Shape::AnyOf(shapes), NodeValue::Map(_)) => {
            match shapes.iter().find(|s| matches!(s, Shape::Record(_))) {
                Some(record) => complete(node, record),
                None => node.clone(),
            }
        }
        _ => node.clone(),
    }
}

fn completed(entries: &[(MapKey, Node)], record: &RecordShape) -> Vec<(MapKey, Node)> {
    let given = |name: &str| {
        entries
            .iter()
            .find(|(key, node)| key.text == name && node.value != NodeValue::Null)
    };
    record
        .fields
        .iter()
        .filter_map(|field| match given(field.name) {
            Some((key, node)) => Some((key.clone(), complete(node, &field.shape))),
            None if field.default.is_empty() => None,
            None => {
                let key = MapKey {
                    span: 0..0,
                    text: field.name.to_owned(),
                };
                Some((key, complete(&default_of(field.default), &field.shape)))
            }
        })
        .collect()
}

/// Parses a default. Defaults are constants of this program, so they parse (a test reads them all).
fn default_of(text: &str) -> Node {
    match simple_default(text) {
        Some(value) => Node { span: 0..0, value },
        None => parsed_default(text),
    }
}

fn parsed_default(text: &str) -> Node {
    let node = parse(&SourceText::new("default", text), &mut Sink::new());
    strip(node.unwrap_or(Node {
        span: 0..0,
        value: NodeValue::Null,
    }))
}

/// Returns the value of an empty list or mapping, or of a word, without the YAML parser. Most
/// defaults are one of these, and each matrix file and recipe reads dozens of them.
fn simple_default(text: &str) -> Option<NodeValue> {
    let is_word_byte =
        |byte: u8| byte.is_ascii_lowercase() || matches!(byte, b'-' | b'.' | b'0'..=b'9');
    match text {
        "[]" => Some(NodeValue::List(Vec::new())),
        "{}" => Some(NodeValue::Map(Vec::new())),
        "null" => None,
        _ if text.starts_with(|first: char| first.is_ascii_alphanumeric())
            && text.bytes().all(is_word_byte) =>
        {
            Some(NodeValue::Scalar(Scalar {
                text: text.to_owned(),
                plain: true,
            }))
        }
        _ => None,
    }
}

fn strip(node: Node) -> Node {
    let value = match node.value {
        NodeValue::List(items) => NodeValue::List(items.into_iter().map(strip).collect()),
        NodeValue::Map(entries) => NodeValue::Map(
            entries
                .into_iter()
                .map(|(key, node)| (MapKey { span: 0..0, ..key }, strip(node)))
                .collect(),
        ),
        other => other,
    };
    Node { span: 0..0, value }
}

#[cfg(test)]
mod tests {
    use super::{complete, parsed_default, simple_default};
    use crate::config::fields::{MATRIX, MATRIX_FILE};
    use rock_diagnostic::{Sink, SourceText};
    use rock_yaml::shape::{self, Shape};
    use rock_yaml::{Node, NodeValue};

    /// Returns the defaults of all fields in a shape.
    fn defaults(shape: &Shape) -> Vec<&'static str> {
        match shape {
            Shape::Record(record) => {
                let fields = record.fields.iter();
                fields
                    .flat_map(|field| [vec![field.default], defaults(&field.shape)].concat())
                    .collect()
            }
            Shape::List(of) | Shape::Map(of) => defaults(of),
            Shape::AnyOf(shapes) => shapes.iter().flat_map(defaults).collect(),
            _ => Vec::new(),
        }
    }

    #[test]
    fn simple_defaults_are_those_that_the_parser_reads() {
        let constants = defaults(&MATRIX_FILE).into_iter();
        let mut count = 0;
        for text in constants.chain(["0", "1.5", "ubuntu-22.04", "true", "yes"]) {
            if let Some(value) = simple_default(text) {
                assert_eq!(value, parsed_default(text).value, "{text}");
                count += 1;
            }
        }
        assert!(count > 40, "{count}");
        for text in ["", "null", "~", "-", ".inf", "a: b", "[a]", "'a'", "A"] {
            assert_eq!(simple_default(text), None, "{text}");
        }
    }

    #[test]
    fn every_default_fits_the_form_of_its_field() {
        let empty = Node {
            span: 0..0,
            value: NodeValue::Map(Vec::new()),
        };
        let whole = complete(&empty, &MATRIX_FILE);
        for field in MATRIX.fields.iter().filter(|f| !f.default.is_empty()) {
            assert!(whole.get(field.name).is_some(), "{}", field.name);
        }
        let mut sink = Sink::new();
        shape::check(
            &whole,
            &MATRIX_FILE,
            &SourceText::new("defaults", ""),
            &mut sink,
        );
        let missing: Vec<_> = sink
            .finish()
            .into_iter()
            .filter(|d| d.code.name != "missing-key")
            .collect();
        assert!(missing.is_empty(), "{missing:?}");
        assert_eq!(
            whole
                .get("image")
                .unwrap()
                .get("repository")
                .unwrap()
                .text(),
            Some("docker.io/rocm/pytorch")
        );
    }
}
