//! The `K` codes, for pages that compatibility data is read from.

use rock_diagnostic::{Code, ExitClass};

/// All `K` codes of this crate, sorted by ID.
pub const ALL: &[&Code] = &[&CANNOT_FETCH];

/// A page or file that could not be downloaded.
pub const CANNOT_FETCH: Code = Code::error(
    "K004",
    "cannot-fetch",
    "A page or file could not be downloaded. Check the address and the network.\n\nCommands that read pages accept saved ones as well: pass their directory instead of the address.",
)
.exits_with(ExitClass::Machine);
