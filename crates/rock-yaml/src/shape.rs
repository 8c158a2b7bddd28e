//! What a file may hold, said once: the structural check, the JSON Schema and the reference page
//! come from it.
//!
//! Input: a [`Node`] tree and a [`Shape`]. Output: a diagnostic for every structural fault, or a
//! schema.
//!
//! **Invariant:** a tree without faults here has the kinds that its shape says; what its texts mean
//! is not asked.

mod check;
mod schema;

pub use check::{check, check_record};
pub use schema::json_schema;

/// The form of a value.
#[derive(Debug)]
pub enum Shape {
    /// Any text, kept as written.
    Text,
    /// A whole number, zero or more.
    Integer,
    /// `true` or `false`.
    Boolean,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A list of values of one form.
    List(&'static Self),
    /// A mapping with free keys and values of one form.
    Map(&'static Self),
    /// A mapping with known keys.
    Record(&'static RecordShape),
    /// The first form whose kind (text, list, mapping, nothing) fits.
    AnyOf(&'static [Self]),
    /// Nothing: an empty value.
    Null,
    /// Anything at all; checked elsewhere.
    Any,
}

/// A mapping with known keys.
#[derive(Debug)]
pub struct RecordShape {
    /// What it is called in messages and in the schema's `$defs`, `matrix file`.
    pub name: &'static str,
    /// Its keys.
    pub fields: &'static [FieldShape],
}

/// One known key.
#[derive(Debug)]
pub struct FieldShape {
    /// The key, kebab-case.
    pub name: &'static str,
    /// The form of its value.
    pub shape: Shape,
    /// Whether it must be there.
    pub required: bool,
    /// The default in YAML, empty when there is none.
    pub default: &'static str,
    /// One or two sentences for the reference.
    pub doc: &'static str,
}

impl RecordShape {
    /// The field with this name.
    pub fn field(&self, name: &str) -> Option<&'static FieldShape> {
        self.fields.iter().find(|field| field.name == name)
    }
}

impl Shape {
    /// What belongs here, for messages: `a list`, `text`, `one of a, b`.
    pub fn expected(&self) -> String {
        match self {
            Self::Text => "text".into(),
            Self::Integer => "a whole number".into(),
            Self::Boolean => "`true` or `false`".into(),
            Self::Word(words) => format!("one of {}", words_of(words)),
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

/// `` `a`, `b`, `c` ``.
fn words_of(words: &[&str]) -> String {
    words
        .iter()
        .map(|word| format!("`{word}`"))
        .collect::<Vec<_>>()
        .join(", ")
}
