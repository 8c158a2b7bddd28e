//! YAML in, spanned trees out; plain values in, YAML out.
//!
//! User files become a [`Node`] tree in which every value keeps its byte range and every scalar its
//! text as written, so that one run can show every fault at its place and `3.10` never turns into
//! `3.1`. A [`shape::Shape`] describes what a file may hold: it drives the structural check, the
//! JSON Schema and the reference page alike. [`de::from_node`] turns a checked tree into typed
//! values.
//!
//! **Invariant:** the YAML crates are named in this module and nowhere else; nothing here reads a
//! file.

pub mod codes;
pub mod de;
mod diagnostics;
mod emit;
pub mod limits;
mod node;
mod parse;
pub mod shape;
mod syntax;
mod tree_builder;

pub use emit::to_yaml;
pub use node::{MapKey, Node, NodeValue, Scalar};
pub use parse::parse;
