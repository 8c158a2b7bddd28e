//! A tree with the defaults put in.

use crate::diagnostic::{Sink, Source};
use crate::yaml::shape::{Record, Shape};
use crate::yaml::{Key, Node, Value, parse};

/// The tree with the default of every field that is absent or empty. Defaults have an empty span at
/// 0.
pub(super) fn complete(node: &Node, shape: &Shape) -> Node {
    match (shape, &node.value) {
        (Shape::Record(record), Value::Map(entries)) => Node {
            span: node.span.clone(),
            value: Value::Map(completed(entries, record)),
        },
        (Shape::List(of), Value::List(items)) => {
            let items = items.iter().map(|item| complete(item, of)).collect();
            Node {
                span: node.span.clone(),
                value: Value::List(items),
            }
        }
        (Shape::AnyOf(shapes), Value::Map(_)) => {
            match shapes.iter().find(|s| matches!(s, Shape::Record(_))) {
                Some(record) => complete(node, record),
                None => node.clone(),
            }
        }
        _ => node.clone(),
    }
}

fn completed(entries: &[(Key, Node)], record: &Record) -> Vec<(Key, Node)> {
    let given = |name: &str| {
        entries
            .iter()
            .find(|(key, node)| key.text == name && node.value != Value::Null)
    };
    record
        .fields
        .iter()
        .filter_map(|field| match given(field.name) {
            Some((key, node)) => Some((key.clone(), complete(node, &field.shape))),
            None if field.default.is_empty() => None,
            None => {
                let key = Key {
                    span: 0..0,
                    text: field.name.to_owned(),
                };
                Some((key, complete(&default_of(field.default), &field.shape)))
            }
        })
        .collect()
}

/// A default's tree. The tables are constants of this program, so their texts parse (a test reads
/// them all).
fn default_of(text: &str) -> Node {
    let node = parse(&Source::new("default", text), &mut Sink::new());
    strip(node.unwrap_or(Node {
        span: 0..0,
        value: Value::Null,
    }))
}

fn strip(node: Node) -> Node {
    let value = match node.value {
        Value::List(items) => Value::List(items.into_iter().map(strip).collect()),
        Value::Map(entries) => Value::Map(
            entries
                .into_iter()
                .map(|(key, node)| (Key { span: 0..0, ..key }, strip(node)))
                .collect(),
        ),
        other => other,
    };
    Node { span: 0..0, value }
}

#[cfg(test)]
mod tests {
    use super::complete;
    use crate::config::fields::{MATRIX, MATRIX_FILE};
    use crate::diagnostic::{Sink, Source};
    use crate::yaml::{Node, Value, shape};

    #[test]
    fn every_default_fits_the_form_of_its_field() {
        let empty = Node {
            span: 0..0,
            value: Value::Map(Vec::new()),
        };
        let whole = complete(&empty, &MATRIX_FILE);
        for field in MATRIX.fields.iter().filter(|f| !f.default.is_empty()) {
            assert!(whole.get(field.name).is_some(), "{}", field.name);
        }
        let mut sink = Sink::new();
        shape::check(
            &whole,
            &MATRIX_FILE,
            &Source::new("defaults", ""),
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
