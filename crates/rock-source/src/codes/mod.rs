//! The diagnostic codes of this crate, one module per letter.

pub mod checkout;
pub mod host;
pub mod sources;

use rock_diagnostic::Code;

/// All codes of this crate, one slice per letter.
pub const ALL: &[&[&Code]] = &[checkout::ALL, host::ALL, sources::ALL];
