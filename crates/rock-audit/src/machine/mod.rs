//! What an audit reads from the machine, or from a directory that takes its place (a sysroot).
//!
//! **Invariant:** the rest of the crate reads no files.
#![allow(
    clippy::disallowed_methods,
    reason = "directories and links are read as they are, without following them"
)]

mod leaves;
mod owners;
mod sysroot;

pub use leaves::leaves;
pub use owners::Owners;
pub use sysroot::Sysroot;
