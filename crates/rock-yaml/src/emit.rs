//! YAML output.
//!
//! Input: a serialisable value. Output: a block-style document that YAML 1.1 and 1.2 readers
//! understand alike.
//!
//! **Invariant:** a text is written without quotes only where no reader could take it for anything
//! else.

use std::fmt::Write;

use serde_yaml::Value;

/// Writes a serialisable value as a YAML document; texts that other readers could take for numbers,
/// dates or booleans are quoted.
///
/// # Errors
/// When the value has no YAML form (a map with a composite key).
pub fn to_yaml<T: serde::Serialize>(value: &T) -> Result<String, serde_yaml::Error> {
    let value = serde_yaml::to_value(value)?;
    let mut out = String::new();
    node(&value, 0, &mut out)?;
    Ok(out)
}

/// Writes a value that begins at the start of a line, `indent` columns in, and ends its last line.
fn node(value: &Value, indent: usize, out: &mut String) -> Result<(), serde_yaml::Error> {
    match value {
        Value::Sequence(items) if !items.is_empty() => {
            for item in items {
                let _ = write!(out, "{:indent$}-", "");
                match item {
                    // The first entry of a mapping or list stands on the line of the dash.
                    Value::Mapping(_) | Value::Sequence(_) if !is_empty(item) => {
                        let mut inner = String::new();
                        node(item, indent + 2, &mut inner)?;
                        out.push(' ');
                        out.push_str(inner.trim_start_matches(' '));
                    }
                    _ => inline(item, indent, out)?,
                }
            }
        }
        Value::Mapping(entries) if !entries.is_empty() => {
            for (key, value) in entries {
                let _ = write!(out, "{:indent$}{}:", "", scalar(key)?);
                match value {
                    Value::Mapping(_) if !is_empty(value) => {
                        out.push('\n');
                        node(value, indent + 2, out)?;
                    }
                    Value::Sequence(_) if !is_empty(value) => {
                        out.push('\n');
                        node(value, indent + 2, out)?;
                    }
                    _ => inline(value, indent, out)?,
                }
            }
        }
        _ => {
            let mut line = String::new();
            inline(value, indent, &mut line)?;
            let _ = write!(out, "{:indent$}{}", "", line.trim_start_matches(' '));
        }
    }
    Ok(())
}

/// Writes a space and a scalar or an empty collection, and ends the line.
fn inline(value: &Value, indent: usize, out: &mut String) -> Result<(), serde_yaml::Error> {
    match value {
        Value::String(text) if fits_a_block(text) => {
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

/// Several lines that a literal block keeps exactly: nothing unprintable, no space at the edges of
/// a line that indentation or trimming could change, one line end at most.
fn fits_a_block(text: &str) -> bool {
    let printable = text.chars().all(|c| c == '\n' || !c.is_control());
    let first_is_flush = !text.starts_with([' ', '\n']);
    text.trim_end_matches('\n').contains('\n')
        && printable
        && first_is_flush
        && !text.ends_with("\n\n")
}

fn scalar(value: &Value) -> Result<String, serde_yaml::Error> {
    Ok(match value {
        Value::Null => "null".into(),
        Value::Bool(truth) => truth.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => quoted(text),
        Value::Sequence(items) if items.is_empty() => "[]".into(),
        Value::Mapping(entries) if entries.is_empty() => "{}".into(),
        _ => {
            return Err(serde::ser::Error::custom(
                "a list, a mapping or a tag cannot be a key or a scalar",
            ));
        }
    })
}

/// A text as a scalar: plain where that is safe, else in single quotes, else in double quotes with
/// escapes.
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

/// Words that YAML 1.1 or 1.2 readers take for something else than text.
const RESERVED: [&str; 9] = ["true", "false", "yes", "no", "on", "off", "null", "y", "n"];

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
    fn texts_that_look_like_something_else_are_quoted() {
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
        fn what_is_written_reads_back_equal(value in value()) {
            let text = to_yaml(&value).unwrap();
            let theirs: Value = serde_yaml::from_str(&text).unwrap();
            prop_assert_eq!(&theirs, &value, "{}", text);
            // The reader of user files takes an empty document for a fault, and nothing else than a
            // mapping or list.
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
