//! What is right and wrong with a machine, for people who build and use wheels on it.
//!
//! Input: [`HostFacts`](crate::host::HostFacts). Output: findings as diagnostics, a table, and JSON.
//!
//! **Invariant:** nothing is looked up here: the same facts give the same words.

mod findings;
mod json;
mod table;

pub use findings::findings;
pub use json::json;
pub use table::human;
