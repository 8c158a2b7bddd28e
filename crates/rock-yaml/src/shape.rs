//! Shapes: the allowed structure of a file, from which a check, a JSON Schema and a reference page
//! are derived.
//!
//! Input: a [`Shape`], and a tree of nodes for the check. Output: diagnostics, a schema or
//! Markdown.
//!
//! **Invariant:** a tree without diagnostics has the kinds of its shape at every level; the meaning
//! of texts is not checked.

mod checker;
mod reference;
mod schema;

pub use checker::{check, check_record};
pub use reference::reference_tables;
pub use schema::json_schema;

/// The allowed structure of a value.
#[derive(Debug)]
pub enum Shape {
    /// Any scalar; numbers and booleans are text as well.
    Text,
    /// A plain scalar that is a decimal `u64`.
    Integer,
    /// A boolean of YAML 1.2.
    Boolean,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A list whose items have one shape.
    List(&'static Self),
    /// A mapping with any keys, whose values have one shape.
    Map(&'static Self),
    /// A mapping with known keys.
    Record(&'static RecordShape),
    /// The first of several shapes that accepts the kind of the value (scalar, boolean, list,
    /// mapping, null).
    AnyOf(&'static [Self]),
    /// A null value.
    Null,
    /// Any value, for parts that the caller checks.
    Any,
}

/// The shape of a mapping with known keys.
#[derive(Debug)]
pub struct RecordShape {
    /// The name in messages and, with hyphens, in the `$defs` of the JSON Schema, `matrix file`.
    pub name: &'static str,
    /// The known keys, in the order of the reference page.
    pub fields: &'static [FieldShape],
}

/// A key of a [`RecordShape`] and the shape of its value.
#[derive(Debug)]
pub struct FieldShape {
    /// The key.
    pub name: &'static str,
    /// The shape of the value. A null value is accepted unless the key is required.
    pub shape: Shape,
    /// Whether the key must have a value.
    pub required: bool,
    /// The default as YAML, empty if there is none.
    pub default: &'static str,
    /// One or two sentences for the reference page, the JSON Schema and the notes of diagnostics.
    pub doc: &'static str,
}

impl FieldShape {
    /// Creates a key that must have a value.
    pub const fn required(name: &'static str, shape: Shape, doc: &'static str) -> Self {
        Self {
            name,
            shape,
            required: true,
            default: "",
            doc,
        }
    }

    /// Creates a key that may be absent. `default` is YAML, empty if there is no default.
    pub const fn optional(
        name: &'static str,
        shape: Shape,
        default: &'static str,
        doc: &'static str,
    ) -> Self {
        Self {
            name,
            shape,
            required: false,
            default,
            doc,
        }
    }
}

impl RecordShape {
    /// Returns the key with a name.
    pub fn field(&self, name: &str) -> Option<&'static FieldShape> {
        self.fields.iter().find(|field| field.name == name)
    }
}

impl Shape {
    /// Describes the shape for messages: `a list`, `a string`, `` one of `a`, `b` ``.
    pub fn expected(&self) -> String {
        match self {
            Self::Text => "a string".into(),
            Self::Integer => "an integer".into(),
            Self::Boolean => "`true` or `false`".into(),
            Self::Word(words) => format!("one of {}", quoted_words(words)),
            Self::List(_) => "a list".into(),
            Self::Map(_) | Self::Record(_) => "a mapping".into(),
            Self::AnyOf(shapes) => shapes
                .iter()
                .map(Self::expected)
                .collect::<Vec<_>>()
                .join(" or "),
            Self::Null => "nothing".into(),
            Self::Any => "anything".into(),
        }
    }
}

/// Joins words as `` `a`, `b`, `c` ``.
fn quoted_words(words: &[&str]) -> String {
    words
        .iter()
        .map(|word| format!("`{word}`"))
        .collect::<Vec<_>>()
        .join(", ")
}
