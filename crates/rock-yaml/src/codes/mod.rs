//! The diagnostic codes of this crate, one module a letter.

pub mod matrix;

use rock_diagnostic::Code;

/// All codes of this crate, by letter.
pub const ALL: &[&[&Code]] = &[matrix::ALL];
