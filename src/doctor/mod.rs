//! What is right and wrong with a machine, for people who build and use wheels on it.
//!
//! Input: [`HostFacts`](crate::host::HostFacts), the facts, the output of a script. Output:
//! findings as diagnostics, a table, and JSON.
//!
//! **Invariant:** nothing is looked up here: the same facts give the same words.

pub mod attention;
mod builds;
mod findings;
mod json;
mod table;

pub use builds::{BuildMachine, build_findings, known_failures};
pub use findings::findings;
pub use json::json;
pub use table::human;
