//! The diagnostic codes of this crate, one module a letter.

pub mod host;
pub mod matrix;

use crate::Code;

/// All codes of this crate, by letter.
pub const ALL: &[&[&Code]] = &[host::ALL, matrix::ALL];
