//! YAML files with a location for every error, and shapes that describe what a file may contain.
//!
//! [`parse`] turns a text into a tree of [`Node`]s, in which every key and value has its byte range
//! and every scalar its text as written: `3.10` without quotes stays `3.10`. A
//! [`Shape`](shape::Shape) is a constant that describes the keys, values and defaults of a file.
//! Three things are derived from it: a [check](shape::check) that reports all errors with their
//! locations, a [JSON Schema](shape::json_schema) for editors, and the
//! [tables](shape::reference_tables) of a reference page. [`de::from_node`] deserializes a tree
//! into a typed value, and [`to_yaml`] writes YAML.
//!
//! ```
//! use rock_diagnostic::{Sink, SourceText};
//! use rock_yaml::shape::{FieldShape, RecordShape, Shape, check};
//!
//! static BUILD: RecordShape = RecordShape {
//!     name: "build file",
//!     fields: &[
//!         FieldShape::required("python", Shape::List(&Shape::Text), "The Python versions."),
//!         FieldShape::optional("jobs", Shape::Integer, "1", "The number of parallel builds."),
//!     ],
//! };
//!
//! let source = SourceText::new("build.yaml", "python: [3.10, 3.12]\njosb: 4\n");
//! let mut sink = Sink::new();
//! let root = rock_yaml::parse(&source, &mut sink).expect("the text is YAML");
//! check(&root, &Shape::Record(&BUILD), &source, &mut sink);
//!
//! let versions = root.get("python").and_then(|node| node.items()).unwrap();
//! assert_eq!(versions[0].text(), Some("3.10"));
//!
//! let diagnostics = sink.finish();
//! assert_eq!(
//!     diagnostics[0].message,
//!     "unknown key `josb` in a build file; did you mean `jobs`?"
//! );
//! assert_eq!(diagnostics[0].labels[0].location.to_string(), "build.yaml:2:1");
//! ```
//!
//! The reader accepts one document of YAML 1.2 without tags and merge keys. The [`limits`] bound
//! the memory that a hostile file can take.
//!
//! **Invariant:** the types of the YAML parser and writer are not part of the API; nothing here
//! reads a file.

#![warn(missing_docs)]

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

pub use emit::{EmitError, to_yaml};
pub use node::{MapKey, Node, NodeValue, Scalar};
pub use parse::{parse, parse_with_help};

/// The examples of the README, which are tested as documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
