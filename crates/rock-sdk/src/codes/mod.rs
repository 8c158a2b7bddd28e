//! The diagnostic codes of this crate, one module per letter.

pub mod sdk;

use rock_diagnostic::Code;

/// All codes of this crate, one slice per letter.
pub const ALL: &[&[&Code]] = &[sdk::ALL];
