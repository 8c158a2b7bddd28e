//! The `K` codes: facts.

use crate::diagnostic::Code;
pub use rock_compat::codes::facts::*;
pub use rock_sys::codes::facts::*;

/// Every `K` code, in order.
pub const ALL: &[&Code] = &[
    &BAD_TABLE,
    &BAD_ROW,
    &NO_TABLES,
    &UNKNOWN_TABLE,
    &BAD_QUESTION,
    &UNKNOWN_PROFILE,
];

/// A facts file that does not follow the tables.
pub const BAD_TABLE: Code = Code::error(
    "K001",
    "bad-table",
    "A file of the facts folder does not follow the form of its table: a column is unknown or missing, or a value has the wrong form.\n\n`docs/compat.md` lists the tables and their columns.",
);
/// A row that cannot be right.
pub const BAD_ROW: Code = Code::error(
    "K002",
    "bad-row",
    "A row of the facts cannot be right: its source is not in the table of sources, its date is none, it stands twice, or a version, target or digest has the wrong form.",
);
/// A facts folder without tables.
pub const NO_TABLES: Code = Code::error(
    "K003",
    "no-tables",
    "The folder given by `--compat` holds no YAML files. It replaces the shipped facts as a whole, so it needs every table that is asked for.",
);
/// No table has this name.
pub const UNKNOWN_TABLE: Code = Code::error(
    "K005",
    "unknown-table",
    "There is no table of this name. `rock-matrix compat list` shows which there are.",
);
/// A question that facts cannot answer.
pub const BAD_QUESTION: Code = Code::error(
    "K006",
    "bad-question",
    "`compat explain` takes AXIS=VALUE pairs that some fact joins: torch with rocm, torch with python, flash-attn with backend or python.",
);
/// No profile has this name.
pub const UNKNOWN_PROFILE: Code = Code::error(
    "K010",
    "unknown-profile",
    "There is no profile of this name. Profiles are rows of the table `profiles`, and their variables of the table `variables`: `rock-matrix compat list profiles` shows them.",
);
