//! Builders of files for tests: zip archives with chosen header fields, ELF libraries, AMD GPU code.
//!
//! They write bytes by hand, so that a test can make files that no tool would write. This crate
//! depends on no other crate of the workspace.
#![allow(
    clippy::unwrap_used,
    reason = "a builder that fails has failed the test"
)]
#![allow(clippy::cast_possible_truncation, reason = "small numbers")]
#![allow(missing_docs, reason = "for tests of this workspace only")]

pub mod bundle;
mod library;
pub mod raw_zip;

pub use library::library;
