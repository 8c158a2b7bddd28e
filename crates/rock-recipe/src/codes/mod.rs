//! The diagnostic codes of this crate, one module per letter.

pub mod build;
pub mod handover;
pub mod host;
pub mod plan;

use rock_diagnostic::Code;

/// All codes of this crate, one slice per letter.
pub const ALL: &[&[&Code]] = &[build::ALL, handover::ALL, host::ALL, plan::ALL];
