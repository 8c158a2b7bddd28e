//! The diagnostic codes of this crate, one module per letter.

pub mod handover;
pub mod published;
pub mod release;

use rock_diagnostic::Code;

/// All codes of this crate, one slice per letter.
pub const ALL: &[&[&Code]] = &[handover::ALL, published::ALL, release::ALL];
