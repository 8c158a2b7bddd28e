//! The place of every part of a matrix file.

use crate::config::Places;
use crate::diagnostic::{Source, Span};
use crate::yaml::{Node, Value};

/// Remembers where each value stands, `axes.torch[1]`. What covers several lines stands where its key does.
pub(super) fn insert(tree: &Node, source: &Source, places: &mut Places) {
    walk(tree, &mut String::new(), None, source, places);
}

fn walk(node: &Node, path: &mut String, key: Option<&Span>, source: &Source, places: &mut Places) {
    if !path.is_empty() {
        let many_lines = source.text.get(node.span.clone()).is_none_or(|text| text.is_empty() || text.contains('\n'));
        let span = if many_lines { key.unwrap_or(&node.span) } else { &node.span };
        places.insert(path.clone(), span.clone());
    }
    let length = path.len();
    match &node.value {
        Value::List(items) => {
            for (number, item) in items.iter().enumerate() {
                path.push_str(&format!("[{number}]"));
                walk(item, path, None, source, places);
                path.truncate(length);
            }
        }
        Value::Map(entries) => {
            for (key, value) in entries {
                if length > 0 {
                    path.push('.');
                }
                path.push_str(&key.text);
                walk(value, path, Some(&key.span), source, places);
                path.truncate(length);
            }
        }
        Value::Null | Value::Scalar(_) => {}
    }
}
