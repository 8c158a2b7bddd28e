//! Unquoted versions that other tools read as different numbers.

use crate::codes::matrix as codes;
use rock_diagnostic::{Diagnostic, Sink, SourceText, count_more};
use rock_yaml::{Node, NodeValue, Scalar};

/// Keys whose values contain versions.
const VERSIONED: [&str; 4] = ["axes", "rows", "exclude", "include"];
/// The maximum number of additional locations in a note.
const SHOWN: usize = 3;

/// Adds one note per file if unquoted versions would lose digits in other tools, which read `3.10`
/// as 3.1.
pub(super) fn note_unquoted(tree: &Node, source: &SourceText, sink: &mut Sink) {
    let mut found = Vec::new();
    for key in VERSIONED {
        if let Some(node) = tree.get(key) {
            collect(node, &mut found);
        }
    }
    found.sort_by_key(|(node, ..)| node.span.start);
    let Some((first, text, number)) = found.first() else {
        return;
    };
    let more = match found.len() {
        1 => String::new(),
        count => count_more(count - 1, ", and ") + " in this file",
    };
    let message = format!("other tools read the unquoted `{text}` as `{number}`{more}");
    let mut diagnostic = Diagnostic::new(&codes::UNQUOTED_NUMBER, message).at(
        source.location(first.span.clone()),
        format!("kept as `{text}` here"),
    );
    for (node, _, number) in found.iter().skip(1).take(SHOWN) {
        diagnostic = diagnostic.also(
            source.location(node.span.clone()),
            format!("read as `{number}` by other tools"),
        );
    }
    sink.push(diagnostic.help(format!("write `\"{text}\"`")));
}

fn collect<'n>(node: &'n Node, found: &mut Vec<(&'n Node, &'n str, String)>) {
    match &node.value {
        NodeValue::Scalar(scalar) => {
            found.extend(misread(scalar).map(|number| (node, scalar.text.as_str(), number)));
        }
        NodeValue::List(items) => items.iter().for_each(|item| collect(item, found)),
        NodeValue::Map(entries) => entries.iter().for_each(|(_, value)| collect(value, found)),
        NodeValue::Null => {}
    }
}

/// Returns the text that a reader of numbers would print for a scalar, if it differs.
fn misread(scalar: &Scalar) -> Option<String> {
    let text = &scalar.text;
    let decimal =
        text.bytes().all(|b| b.is_ascii_digit() || b == b'.') && text.matches('.').count() == 1;
    let number: f64 = text.parse().ok().filter(|_| scalar.plain && decimal)?;
    let printed = format!("{number:?}");
    (printed != *text).then_some(printed)
}
