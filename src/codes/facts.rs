//! The `K` codes, for problems of the compatibility data.

pub use rock_compat::codes::facts::*;
use rock_diagnostic::Code;
pub use rock_sys::codes::facts::*;

/// All codes of this module, sorted by ID.
pub const ALL: &[&Code] = &[
    &BAD_TABLE,
    &BAD_ROW,
    &NO_TABLES,
    &UNKNOWN_TABLE,
    &BAD_QUESTION,
    &UNKNOWN_PROFILE,
];

/// A compatibility file that does not match its tables.
pub const BAD_TABLE: Code = Code::error(
    "K001",
    "bad-table",
    "A file in the compatibility data does not match its tables: a column is unknown or missing, or a value has the wrong form.\n\n`docs/compat.md` lists the tables and their columns.",
);
/// An invalid row.
pub const BAD_ROW: Code = Code::error(
    "K002",
    "bad-row",
    "A row of the compatibility data is invalid: its source is not in the table of sources, its date is not a date, it is a duplicate, or a version, target or digest has the wrong form.",
);
/// A compatibility directory without tables.
pub const NO_TABLES: Code = Code::error(
    "K003",
    "no-tables",
    "The directory in `--compat` contains no YAML files. It replaces all of the built-in compatibility data, so it must contain every table that the command needs.",
);
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
