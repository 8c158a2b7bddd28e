//! The reference page and the JSON Schema of the matrix file, made of its tables.

use std::fmt::Write;

use super::fields::{MATRIX, MATRIX_FILE};
use crate::diagnostic::markdown::cell;
use crate::yaml::shape::{FieldShape, RecordShape, Shape, json_schema};

/// The JSON Schema of a matrix file (draft 2020-12).
pub fn schema() -> serde_json::Value {
    let mut schema = json_schema(&MATRIX_FILE);
    if let Some(map) = schema.as_object_mut() {
        map.insert("title".into(), "rock-matrix matrix file".into());
    }
    schema
}

/// The reference page of the matrix file, in Markdown.
pub fn reference() -> String {
    let mut out = String::from(
        "# Matrix file\n\n\
         <!-- Made of src/config/fields.rs by `ROCK_BLESS=1 cargo test`; do not edit. -->\n\n\
         One YAML file describes one group of wheels; several files make one plan.\n\
         Every text is kept as written, so `3.10` stays `3.10`; quote versions all the same, since other tools read a number.\n\
         Unknown keys, duplicate keys, tags, merge keys and second documents are errors.\n\
         `rock-matrix check` reports every fault of every file in one run.\n\n\
         An editor with a YAML language server checks as you write with this first line:\n\n\
         ```yaml\n# yaml-language-server: $schema=https://raw.githubusercontent.com/org/rock-action/main/docs/matrix.schema.json\n```\n\n",
    );
    section(&MATRIX, "Fields", &mut out);
    for field in MATRIX.fields {
        nested(&field.shape, field.name, &mut out);
    }
    out
}

fn nested(shape: &Shape, path: &str, out: &mut String) {
    match shape {
        Shape::Record(record) => {
            section(record, &format!("`{path}`"), out);
            for field in record.fields {
                nested(&field.shape, &format!("{path}.{}", field.name), out);
            }
        }
        Shape::List(of) => nested(of, &format!("{path}[]"), out),
        Shape::AnyOf(shapes) => shapes.iter().for_each(|shape| nested(shape, path, out)),
        _ => {}
    }
}

fn section(record: &RecordShape, title: &str, out: &mut String) {
    let _ = write!(
        out,
        "## {title}\n\n| key | value | default | meaning |\n|---|---|---|---|\n"
    );
    for field in record.fields {
        let _ = writeln!(
            out,
            "| `{}` | {} | {} | {} |",
            field.name,
            kind(&field.shape),
            default(field),
            cell(field.doc)
        );
    }
    out.push('\n');
}

fn default(field: &FieldShape) -> String {
    match (field.required, field.default) {
        (true, _) => "required".into(),
        (false, "") => "none".into(),
        (false, text) => format!("`{text}`"),
    }
}

fn kind(shape: &Shape) -> String {
    match shape {
        Shape::Text => "text".into(),
        Shape::Integer => "whole number".into(),
        Shape::Boolean => "`true`, `false`".into(),
        Shape::Word(words) => words
            .iter()
            .map(|word| format!("`{word}`"))
            .collect::<Vec<_>>()
            .join(", "),
        Shape::List(of) => format!("list of {}", plural(of)),
        Shape::Map(of) => format!("mapping to {}", plural(of)),
        Shape::Record(_) => "mapping, see below".into(),
        Shape::AnyOf(shapes) => shapes.iter().map(kind).collect::<Vec<_>>().join(" or "),
        Shape::Null => "nothing".into(),
        Shape::Any => "values".into(),
    }
}

fn plural(shape: &Shape) -> String {
    match shape {
        Shape::Text => "texts".into(),
        Shape::Record(_) => "mappings, see below".into(),
        Shape::Map(of) => format!("mappings to {}", plural(of)),
        Shape::List(of) => format!("lists of {}", plural(of)),
        other => kind(other),
    }
}

#[cfg(test)]
mod tests {
    use super::{reference, schema};

    #[test]
    fn the_schema_is_valid_and_knows_every_field() {
        let schema = schema();
        assert!(jsonschema::draft202012::meta::is_valid(&schema));
        let valid = |text: &str| {
            let value: serde_json::Value = serde_yaml::from_str(text).unwrap();
            jsonschema::is_valid(&schema, &value)
        };
        assert!(valid(
            "version: 1\ndistribution: x\naxes: {python: ['3.12', 3.11]}\nimage: rocm/pytorch\nworkflow: {cache: off}\nexclude:\n"
        ));
        assert!(valid(
            "version: 1\ndistribution: x\nimage: {tag: x}\nrelease: {make-latest: true}\n"
        ));
        for wrong in [
            "distribution: x\n",
            "version: 1\ndistribution: x\nzebra: 1\n",
            "version: 1\ndistribution: x\ngpu: maybe\n",
        ] {
            assert!(!valid(wrong), "{wrong}");
        }
    }

    #[test]
    fn the_reference_names_every_field_once_a_table() {
        let page = reference();
        for name in [
            "`axes`",
            "`shm-size`",
            "`include[].set`",
            "`max-parallel`",
            "`make-latest`",
        ] {
            assert!(page.contains(name), "{name}");
        }
    }
}
