//! [`Node`] trees as a serde input: scalars keep their text, errors keep their place.

use super::Node;
use crate::diagnostic::Span;

/// A value of the wrong kind, with its place.
#[derive(Debug, Clone, thiserror::Error, PartialEq, Eq)]
#[error("{message}")]
pub struct FromNodeError {
    /// Where.
    pub span: Span,
    /// What is wrong.
    pub message: String,
}

/// Reads a typed value out of a tree.
///
/// # Errors
/// The first value that does not fit the type.
pub fn from_node<T: serde::de::DeserializeOwned>(node: &Node) -> Result<T, FromNodeError> {
    Err(FromNodeError { span: node.span.clone(), message: "not read yet".into() })
}
