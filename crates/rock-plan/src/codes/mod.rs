//! The diagnostic codes of this crate, one module per letter.

pub mod build;
pub mod facts;
pub mod matrix;
pub mod plan;
pub mod release;

use rock_diagnostic::Code;

/// All codes of this crate, one slice per letter.
pub const ALL: &[&[&Code]] = &[build::ALL, facts::ALL, matrix::ALL, plan::ALL, release::ALL];
