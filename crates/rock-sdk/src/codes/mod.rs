//! The diagnostic codes of this crate, one module per letter.

pub(crate) mod host;
pub(crate) mod rocm;
pub mod sdk;
pub(crate) mod wheel;

use rock_diagnostic::Code;

/// All codes of this crate, one slice per letter.
pub const ALL: &[&[&Code]] = &[sdk::ALL];
