//! The `W` codes, for wheels as archives, their dist-info, and their names.

pub use rock_audit::codes::wheel::*;
use rock_diagnostic::Code;
pub use rock_wheel::codes::wheel::*;

/// All codes of this module, sorted by ID.
pub const ALL: &[&Code] = &[];
