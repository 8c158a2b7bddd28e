//! The YAML writer.
//!
//! Input: a serializable value. Output: a document in block style that readers of YAML 1.1 and 1.2
//! read alike.
//!
//! **Invariant:** a text is written without quotes only if no reader takes it for another type.

use std::fmt::Write;

use serde_yaml::Value;

/// A value that has no YAML form, such as a map whose keys are lists.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct EmitError(#[from] serde_yaml::Error);

/// Serializes a value as a YAML document. Texts that other readers could take for numbers, dates or
/// booleans are quoted.
///
/// # Errors
/// Returns an error for a value without a YAML form here, such as a map with composite keys.
///
/// ```
/// let versions = [("python", ["3.10", "3.12"])];
/// let map = std::collections::BTreeMap::from(versions);
/// assert_eq!(rock_yaml::to_yaml(&map)?, "python:\n  - '3.10'\n  - '3.12'\n");
/// # Ok::<(), rock_yaml::EmitError>(())
/// ```
pub fn to_yaml<T: serde::Serialize>(value: &T) -> Result<String, EmitError> {
    let value = serde_yaml::to_value(value)?;
    let mut out = String::new();
    write_block(&value, 0, &mut out)?;
    Ok(out)
}

/// Writes a value in lines of its own, indented by `indent` columns.
fn write_block(value: &Value, indent: usize, out: &mut String) -> Result<(), EmitError> {
    match value {
        Value::Sequence(items) if !items.is_empty() => {
            for item in items {
                let _ = write!(out, "{:indent$}-", "");
                match item {
                    // The first entry of a nested collection is on the line of the dash.
                    Value::Mapping(_) | Value::Sequence(_) if !is_empty(item) => {
                        let mut inner = String::new();
                        write_block(item, indent + 2, &mut inner)?;
                        out.push(' ');
                        out.push_str(inner.trim_start_matches(' '));
                    }
                    _ => write_inline(item, indent, out)?,
                }
            }
        }
        Value::Mapping(entries) if !entries.is_empty() => {
            for (key, value) in entries {
                let _ = write!(out, "{:indent$}{}:", "", scalar(key)?);
                match value {
                    Value::Mapping(_) if !is_empty(value) => {
                        out.push('\n');
                        write_block(value, indent + 2, out)?;
                    }
                    Value::Sequence(_) if !is_empty(value) => {
                        out.push('\n');
                        write_block(value, indent + 2, out)?;
                    }
                    _ => write_inline(value, indent, out)?,
                }
            }
        }
        _ => {
            let mut line = String::new();
            write_inline(value, indent, &mut line)?;
            let _ = write!(out, "{:indent$}{}", "", line.trim_start_matches(' '));
        }
    }
    Ok(())
}

/// Writes a space, a scalar or an empty collection, and a line break.
fn write_inline(value: &Value, indent: usize, out: &mut String) -> Result<(), EmitError> {
    match value {
        Value::String(text) if fits_literal_block(text) => {
            out.push_str(match text.strip_suffix('\n') {
                Some(_) => " |\n",
                None => " |-\n",
            });
            for line in text.lines() {
                if line.is_empty() {
                    out.push('\n');
                } else {
                    let _ = writeln!(out, "{:width$}{line}", "", width = indent + 2);
                }
            }
            Ok(())
        }
        _ => {
            let _ = writeln!(out, " {}", scalar(value)?);
            Ok(())
        }
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Sequence(items) => items.is_empty(),
        Value::Mapping(entries) => entries.is_empty(),
        _ => false,
    }
}

/// Returns whether a text has several lines and a literal block preserves it: it has no control
/// characters, no leading space or line feed, and at most one line feed at its end.
fn fits_literal_block(text: &str) -> bool {
    let printable = text.chars().all(|c| c == '\n' || !c.is_control());
    let first_is_flush = !text.starts_with([' ', '\n']);
    text.trim_end_matches('\n').contains('\n')
        && printable
        && first_is_flush
        && !text.ends_with("\n\n")
}

/// Formats a scalar or an empty collection.
fn scalar(value: &Value) -> Result<String, EmitError> {
    Ok(match value {
        Value::Null => "null".into(),
        Value::Bool(truth) => truth.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => quoted(text),
        Value::Sequence(items) if items.is_empty() => "[]".into(),
        Value::Mapping(entries) if entries.is_empty() => "{}".into(),
        _ => {
            return Err(EmitError(serde::ser::Error::custom(
                "a list, a mapping or a tag cannot be a key or a scalar",
            )));
        }
    })
}

/// Formats a text as a plain scalar if that is safe, otherwise in single quotes, or in double
/// quotes if it needs escapes.
fn quoted(text: &str) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    if !text.chars().any(char::is_control) && !text.contains(['\u{feff}', '\u{2028}', '\u{2029}']) {
        return format!("'{}'", text.replace('\'', "''"));
    }
    let mut out = "\"".to_owned();
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() || matches!(c, '\u{feff}' | '\u{2028}' | '\u{2029}') => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Words, in any case, that YAML 1.1 or 1.2 does not read as text.
const RESERVED: [&str; 9] = ["true", "false", "yes", "no", "on", "off", "null", "y", "n"];

/// Returns whether every reader takes a plain scalar for this text.
fn is_plain(text: &str) -> bool {
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '/');
    let inside = text
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || matches!(c, ' ' | '_' | '-' | '.' | '/' | '+' | '@'));
    begins
        && inside
        && !text.ends_with(' ')
        && !RESERVED.iter().any(|word| word.eq_ignore_ascii_case(text))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::to_yaml;
    use crate::{de::from_node, parse};
    use rock_diagnostic::{Sink, SourceText};

    #[test]
    fn ambiguous_texts_are_quoted() {
        let value = json!({"python": ["3.10", "3.12"], "on": "yes", "date": "2026-11-21", "clock": "1:30", "name": "flash-attn",
            "none": null, "n": 3, "e": [], "m": {}, "nested": [{"a": 1, "b": ["x"]}], "script": "set -e\n\n  make\n", "l": "a\nb"});
        let text = to_yaml(&value).unwrap();
        let expected = "python:\n  - '3.10'\n  - '3.12'\n'on': 'yes'\ndate: '2026-11-21'\nclock: '1:30'\nname: flash-attn\nnone: null\n'n': 3\ne: []\nm: {}\nnested:\n  - a: 1\n    b:\n      - x\nscript: |\n  set -e\n\n    make\nl: |-\n  a\n  b\n";
        assert_eq!(text, expected);
    }

    fn value() -> impl Strategy<Value = Value> {
        let text = prop_oneof![
            "[ -~]{0,12}",
            "\\PC{0,6}",
            "[a-z :#'\"\\n\\t-]{0,10}",
            Just("3.10".to_owned()),
            Just("no".to_owned())
        ];
        let leaf = prop_oneof![
            text.prop_map(Value::from),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from)
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::btree_map("[ -~]{1,6}", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn values_round_trip(value in value()) {
            let text = to_yaml(&value).unwrap();
            let reference: Value = serde_yaml::from_str(&text).unwrap();
            prop_assert_eq!(&reference, &value, "{}", text);
            // Our reader rejects empty documents and merge keys.
            if value.as_object().is_some_and(|o| !o.is_empty()) && !text.contains("<<") {
                let mut sink = Sink::new();
                let node = parse(&SourceText::new("t", text.as_str()), &mut sink);
                prop_assert!(sink.is_empty(), "{} {:?}", text, sink);
                let ours: Value = from_node(&node.unwrap()).unwrap();
                prop_assert_eq!(&ours, &value, "{}", text);
            }
        }
    }
}
