//! The diagnostic codes of this crate, in modules by subject.

pub mod host;
pub mod limit;
pub mod matrix;

use crate::Code;

/// All codes of this crate, one slice per module.
pub const ALL: &[&[&Code]] = &[host::ALL, limit::ALL, matrix::ALL];
