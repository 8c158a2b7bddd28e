//! The diagnostic codes of this crate, one module a letter.

pub mod facts;

use rock_diagnostic::Code;

/// All codes of this crate, by letter.
pub const ALL: &[&[&Code]] = &[facts::ALL];
