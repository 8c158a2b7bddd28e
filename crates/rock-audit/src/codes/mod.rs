//! The diagnostic codes of this crate, one module per letter.

pub mod elf;
pub mod rocm;
pub mod wheel;

use rock_diagnostic::Code;

/// All codes of this crate, one slice per letter.
pub const ALL: &[&[&Code]] = &[elf::ALL, rocm::ALL, wheel::ALL];
