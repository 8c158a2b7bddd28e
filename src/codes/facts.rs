//! The `K` codes, for problems of the compatibility data.

pub use rock_compat::codes::facts::*;
use rock_diagnostic::Code;
pub use rock_plan::codes::facts::*;
pub use rock_sys::codes::facts::*;

/// All codes of this module, sorted by ID.
pub const ALL: &[&Code] = &[];
