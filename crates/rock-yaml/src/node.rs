//! The spanned tree.

use rock_diagnostic::Span;

/// A value with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Byte range in the source.
    pub span: Span,
    /// What stands there.
    pub value: NodeValue,
}

/// What a node holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NodeValue {
    /// An empty value, `~` or `null`.
    Null,
    /// Text, as written.
    Scalar(Scalar),
    /// A list.
    List(Vec<Node>),
    /// Keys and values in the order of the file; keys are unique.
    Map(Vec<(MapKey, Node)>),
}

/// A key of a mapping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapKey {
    /// Byte range of the key.
    pub span: Span,
    /// The key's text.
    pub text: String,
}

/// A scalar's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scalar {
    /// The text after unquoting, otherwise as written.
    pub text: String,
    /// Whether it stood without quotes, so that other tools may read it as a number or a boolean.
    pub plain: bool,
}

impl Node {
    /// The text of a scalar.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            NodeValue::Scalar(scalar) => Some(&scalar.text),
            _ => None,
        }
    }

    /// The items of a list.
    pub fn items(&self) -> Option<&[Self]> {
        match &self.value {
            NodeValue::List(items) => Some(items),
            _ => None,
        }
    }

    /// The entries of a mapping.
    pub fn entries(&self) -> Option<&[(MapKey, Self)]> {
        match &self.value {
            NodeValue::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// The value under a key of a mapping; a null value counts as absent.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entries()?
            .iter()
            .find(|(k, _)| k.text == key)
            .map(|(_, v)| v)
            .filter(|v| v.value != NodeValue::Null)
    }

    /// `true`, `false` as YAML 1.2 spells them.
    pub fn boolean(&self) -> Option<bool> {
        match (&self.value, self.text()?) {
            (NodeValue::Scalar(Scalar { plain: true, .. }), "true" | "True" | "TRUE") => Some(true),
            (NodeValue::Scalar(Scalar { plain: true, .. }), "false" | "False" | "FALSE") => {
                Some(false)
            }
            _ => None,
        }
    }

    /// What the value is, for messages: `a list`, `a mapping`, `text`, `nothing`.
    pub fn kind(&self) -> &'static str {
        match &self.value {
            NodeValue::Null => "nothing",
            NodeValue::Scalar(_) => "text",
            NodeValue::List(_) => "a list",
            NodeValue::Map(_) => "a mapping",
        }
    }
}
