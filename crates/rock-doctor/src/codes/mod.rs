//! The diagnostic codes of this crate, one module per letter.

pub mod host;

use rock_diagnostic::Code;

/// All codes of this crate, one slice per letter.
pub const ALL: &[&[&Code]] = &[host::ALL];
