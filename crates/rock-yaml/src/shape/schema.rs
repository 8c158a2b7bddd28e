//! The JSON Schema of a shape.

use serde_json::{Map, Value, json};

use super::{FieldShape, RecordShape, Shape};

/// Returns the JSON Schema of a shape (draft 2020-12).
///
/// Each [`RecordShape`] becomes an entry of `$defs`; the docs of keys become descriptions. The
/// schema accepts numbers and booleans as text, because editors read a plain scalar such as `3.10`
/// as a number.
pub fn json_schema(shape: &Shape) -> Value {
    let mut defs = Map::new();
    let root = schema(shape, &mut defs);
    let mut out = Map::new();
    out.insert(
        "$schema".into(),
        json!("https://json-schema.org/draft/2020-12/schema"),
    );
    if let Value::Object(root) = root {
        out.extend(root);
    }
    out.insert("$defs".into(), Value::Object(defs));
    Value::Object(out)
}

/// Returns the schema of a shape and adds the schemas of its records to `defs`.
fn schema(shape: &Shape, defs: &mut Map<String, Value>) -> Value {
    match shape {
        Shape::Text => json!({"type": ["string", "number", "boolean"]}),
        Shape::Integer => json!({"type": "integer", "minimum": 0}),
        Shape::Boolean => json!({"type": "boolean"}),
        Shape::Word(words) => json!({"enum": spellings(words)}),
        Shape::List(of) => json!({"type": "array", "items": schema(of, defs)}),
        Shape::Map(of) => json!({"type": "object", "additionalProperties": schema(of, defs)}),
        Shape::Record(record) => reference(record, defs),
        Shape::AnyOf(shapes) => {
            json!({"anyOf": shapes.iter().map(|s| schema(s, defs)).collect::<Vec<_>>()})
        }
        Shape::Null => json!({"type": "null"}),
        Shape::Any => json!({}),
    }
}

/// Returns the JSON values that editors read words as: the words, and booleans for words such as
/// `on`.
fn spellings(words: &[&str]) -> Vec<Value> {
    let mut out: Vec<Value> = words.iter().map(|word| json!(word)).collect();
    for (word, truth) in [
        ("true", true),
        ("false", false),
        ("on", true),
        ("off", false),
    ] {
        if words.contains(&word) && !out.contains(&json!(truth)) {
            out.push(json!(truth));
        }
    }
    out
}

/// Returns a reference to the schema of a record, which is added to `defs` if it is not there.
fn reference(record: &RecordShape, defs: &mut Map<String, Value>) -> Value {
    let name = record.name.replace('`', "").replace(' ', "-");
    if !defs.contains_key(&name) {
        // The placeholder ends the recursion for a record that contains itself.
        defs.insert(name.clone(), Value::Null);
        let mut properties = Map::new();
        for field in record.fields {
            properties.insert(field.name.into(), property(field, defs));
        }
        let required: Vec<_> = record
            .fields
            .iter()
            .filter(|f| f.required)
            .map(|f| f.name)
            .collect();
        let mut body = Map::new();
        body.insert("type".into(), json!("object"));
        body.insert("properties".into(), Value::Object(properties));
        if !required.is_empty() {
            body.insert("required".into(), json!(required));
        }
        body.insert("additionalProperties".into(), json!(false));
        defs.insert(name.clone(), Value::Object(body));
    }
    json!({"$ref": format!("#/$defs/{name}")})
}

/// Returns the schema of the value of a key.
fn property(field: &FieldShape, defs: &mut Map<String, Value>) -> Value {
    let mut body = schema(&field.shape, defs);
    if !field.required {
        // A null value means the default.
        body = match body {
            Value::Object(map) if map.is_empty() => Value::Object(map),
            other => json!({"anyOf": [other, {"type": "null"}]}),
        };
    }
    if let Value::Object(map) = &mut body {
        map.insert("description".into(), json!(field.doc));
        if !field.default.is_empty() {
            let default: Value =
                serde_yaml::from_str(field.default).unwrap_or_else(|_| json!(field.default));
            map.insert("default".into(), default);
        }
    }
    body
}
