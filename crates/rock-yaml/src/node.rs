//! Trees of values with byte ranges.

use rock_diagnostic::Span;

/// A value with its location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// The byte range in the source text.
    pub span: Span,
    /// The value.
    pub value: NodeValue,
}

/// The value of a [`Node`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NodeValue {
    /// An empty value, `~` or `null`.
    Null,
    /// A scalar: text, which numbers and booleans are as well.
    Scalar(Scalar),
    /// A list.
    List(Vec<Node>),
    /// A mapping, in the order of the file. Keys are unique.
    Map(Vec<(MapKey, Node)>),
}

/// A key of a mapping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapKey {
    /// The byte range in the source text, including quotes.
    pub span: Span,
    /// The text, without quotes.
    pub text: String,
}

/// The text of a scalar and its style.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scalar {
    /// The text: of a quoted scalar or block scalar its contents, otherwise as written.
    pub text: String,
    /// Whether the scalar is plain (without quotes), so that other tools may read a number or a
    /// boolean.
    pub plain: bool,
}

impl Node {
    /// Returns the text of a scalar.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            NodeValue::Scalar(scalar) => Some(&scalar.text),
            _ => None,
        }
    }

    /// Returns the items of a list.
    pub fn items(&self) -> Option<&[Self]> {
        match &self.value {
            NodeValue::List(items) => Some(items),
            _ => None,
        }
    }

    /// Returns the entries of a mapping.
    pub fn entries(&self) -> Option<&[(MapKey, Self)]> {
        match &self.value {
            NodeValue::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// Returns the value of a key of a mapping, unless it is null.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entries()?
            .iter()
            .find(|(k, _)| k.text == key)
            .map(|(_, v)| v)
            .filter(|v| v.value != NodeValue::Null)
    }

    /// Returns the value of a plain scalar that is a boolean of YAML 1.2: `true`, `True`, `TRUE`
    /// and the same spellings of `false`.
    pub fn boolean(&self) -> Option<bool> {
        match (&self.value, self.text()?) {
            (NodeValue::Scalar(Scalar { plain: true, .. }), "true" | "True" | "TRUE") => Some(true),
            (NodeValue::Scalar(Scalar { plain: true, .. }), "false" | "False" | "FALSE") => {
                Some(false)
            }
            _ => None,
        }
    }

    /// Describes the kind of the value for messages: `a list`, `a mapping`, `a string`, `nothing`.
    pub fn kind(&self) -> &'static str {
        match &self.value {
            NodeValue::Null => "nothing",
            NodeValue::Scalar(_) => "a string",
            NodeValue::List(_) => "a list",
            NodeValue::Map(_) => "a mapping",
        }
    }
}
