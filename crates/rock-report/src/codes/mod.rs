//! The diagnostic codes of this crate, one module per letter.

pub mod release;

use rock_diagnostic::Code;

/// All codes of this crate, one slice per letter.
pub const ALL: &[&[&Code]] = &[release::ALL];
