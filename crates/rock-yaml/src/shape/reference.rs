//! The reference page of a shape.

use std::fmt::Write;

use rock_diagnostic::markdown::cell;

use super::{FieldShape, RecordShape, Shape, quoted_words};

/// Returns a Markdown section with a table of the keys of a record, followed by such a section for
/// each record inside it, titled with its path such as `` `include[].set` ``.
///
/// A record that contains itself is expanded once.
pub fn reference_tables(record: &RecordShape, title: &str) -> String {
    let mut out = table(record, title);
    for field in record.fields {
        push_nested(&field.shape, field.name, &mut vec![record], &mut out);
    }
    out
}

/// Appends the sections of the records inside a shape. `parents` are the records that contain it.
fn push_nested<'a>(
    shape: &'a Shape,
    path: &str,
    parents: &mut Vec<&'a RecordShape>,
    out: &mut String,
) {
    match shape {
        Shape::Record(record) => {
            if parents.iter().any(|parent| std::ptr::eq(*parent, *record)) {
                return;
            }
            out.push_str(&table(record, &format!("`{path}`")));
            parents.push(record);
            for field in record.fields {
                push_nested(
                    &field.shape,
                    &format!("{path}.{}", field.name),
                    parents,
                    out,
                );
            }
            parents.pop();
        }
        Shape::List(item) => push_nested(item, &format!("{path}[]"), parents, out),
        Shape::AnyOf(shapes) => {
            for shape in *shapes {
                push_nested(shape, path, parents, out);
            }
        }
        _ => {}
    }
}

/// Returns a section with the table of one record.
fn table(record: &RecordShape, title: &str) -> String {
    let mut out = format!("## {title}\n\n| key | value | default | meaning |\n|---|---|---|---|\n");
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
    out
}

/// Describes the default of a key.
fn default(field: &FieldShape) -> String {
    match (field.required, field.default) {
        (true, _) => "required".into(),
        (false, "") => "none".into(),
        (false, text) => format!("`{text}`"),
    }
}

/// Describes a shape in the singular.
fn kind(shape: &Shape) -> String {
    match shape {
        Shape::Text => "string".into(),
        Shape::Integer => "integer".into(),
        Shape::Boolean => "`true`, `false`".into(),
        Shape::Word(words) => quoted_words(words),
        Shape::List(item) => format!("list of {}", plural_kind(item)),
        Shape::Map(value) => format!("mapping to {}", plural_kind(value)),
        Shape::Record(_) => "mapping, see below".into(),
        Shape::AnyOf(shapes) => shapes.iter().map(kind).collect::<Vec<_>>().join(" or "),
        Shape::Null => "nothing".into(),
        Shape::Any => "values".into(),
    }
}

/// Describes a shape in the plural.
fn plural_kind(shape: &Shape) -> String {
    match shape {
        Shape::Text => "strings".into(),
        Shape::Record(_) => "mappings, see below".into(),
        Shape::Map(value) => format!("mappings to {}", plural_kind(value)),
        Shape::List(item) => format!("lists of {}", plural_kind(item)),
        other => kind(other),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{FieldShape, RecordShape, Shape};
    use super::reference_tables;

    static STEP: RecordShape = RecordShape {
        name: "step",
        fields: &[
            FieldShape::required("run", Shape::Text, "A command | with a pipe."),
            FieldShape::optional(
                "steps",
                Shape::List(&Shape::Record(&STEP)),
                "[]",
                "More steps.",
            ),
        ],
    };

    #[test]
    fn each_record_has_a_table_and_a_recursive_one_ends() {
        static FILE: RecordShape = RecordShape {
            name: "file",
            fields: &[FieldShape::required(
                "steps",
                Shape::List(&Shape::Record(&STEP)),
                "The steps.",
            )],
        };
        let header = "| key | value | default | meaning |\n|---|---|---|---|\n";
        let expected = format!(
            "## File\n\n{header}| `steps` | list of mappings, see below | required | The steps. |\n\n\
             ## `steps[]`\n\n{header}| `run` | string | required | A command \\| with a pipe. |\n\
             | `steps` | list of mappings, see below | `[]` | More steps. |\n\n"
        );
        assert_eq!(reference_tables(&FILE, "File"), expected);
    }
}
