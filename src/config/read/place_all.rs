//! The place of every part of a matrix file.

use std::collections::{BTreeMap, BTreeSet};

use crate::config::{Axis, Places, Row};
use crate::diagnostic::{Source, Span};
use crate::yaml::{Node, Value};

/// Remembers where each value stands, `axes.torch[1]`. What covers several lines stands where its key does.
pub(super) fn insert(tree: &Node, source: &Source, places: &mut Places) {
    walk(tree, &mut String::new(), None, source, places);
}

/// Values that only explicit cells have count on after those of their axis, in the order in which they appear:
/// `axes.torch[2]` is then the first of them.
pub(super) fn insert_explicit(axes: &[Axis], rows: &[Row], include: &[Row], places: &mut Places) {
    let rows = rows.iter().enumerate().map(|(number, row)| (format!("rows[{number}]"), row));
    let include = include.iter().enumerate().map(|(number, row)| (format!("include[{number}].axes"), row));
    let mut seen: BTreeMap<&str, BTreeSet<&str>> = axes
        .iter()
        .map(|axis| (axis.name.as_str(), axis.values.iter().map(|value| value.text.as_str()).collect()))
        .collect();
    for (path, row) in rows.chain(include) {
        for (name, value) in &row.axes {
            let texts = seen.entry(name).or_default();
            let number = texts.len();
            if texts.insert(&value.text)
                && let Some(span) = places.span(&format!("{path}.{name}"))
            {
                places.insert(format!("axes.{name}[{number}]"), span);
            }
        }
    }
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
