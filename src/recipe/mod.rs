//! A job and facts to ordered steps; the container argv.
//!
//! Input: a [`crate::plan::Job`], a recipe document and host facts. Output: [`Step`]s that run the same on the host
//! and in a container, and the argv of that container.
//!
//! **Invariant:** the container argv is made in `container` and nowhere else; no version is compared in Rust.

pub mod container;
mod step;

pub use step::{Output, Step};
