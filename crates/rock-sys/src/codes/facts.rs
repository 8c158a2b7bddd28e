//! The `K` codes: facts.

use rock_diagnostic::Code;

/// All of them, sorted by ID.
pub const ALL: &[&Code] = &[&CANNOT_FETCH];

/// An address that could not be read.
pub const CANNOT_FETCH: Code = Code::error(
    "K004",
    "cannot-fetch",
    "A page could not be fetched. Everything that reads pages works from saved ones as well: give their folder instead of the address.",
);
