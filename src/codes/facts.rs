//! The `K` codes, for problems of the compatibility data.

pub use rock_compat::codes::facts::*;
use rock_diagnostic::Code;
pub use rock_plan::codes::facts::*;
pub use rock_sys::codes::facts::*;

/// All codes of this module, sorted by ID.
pub const ALL: &[&Code] = &[&UNKNOWN_TABLE, &BAD_QUESTION, &UNKNOWN_PROFILE];

/// An unknown table.
pub const UNKNOWN_TABLE: Code = Code::error(
    "K005",
    "unknown-table",
    "There is no table of this name. `rock-matrix compat list` shows all tables.",
);
/// A question that the compatibility data cannot answer.
pub const BAD_QUESTION: Code = Code::error(
    "K006",
    "bad-question",
    "`compat explain` takes AXIS=VALUE pairs that some table relates to each other: torch with rocm, torch with python, flash-attn with backend or python.",
);
/// An unknown environment profile.
pub const UNKNOWN_PROFILE: Code = Code::error(
    "K010",
    "unknown-profile",
    "There is no profile of this name. Profiles are rows of the table `profiles`, and their variables are in the table `variables`: `rock-matrix compat list profiles` shows them.",
);
