//! Matrix files and recipe files: from spanned YAML to checked values, and the schema they follow.
//!
//! Input: a [`crate::yaml::Node`] tree. Output: a [`Config`] (one matrix file) or a recipe document, and every fault
//! as a diagnostic.
//!
//! **Invariant:** a `Config` is well formed in itself; whether its cells are legal is asked in `matrix`.

mod model;
mod places;
mod profile;
pub mod recipe;

pub use model::*;
pub use places::Places;
pub use profile::{Backend, Profile};
