//! The `K` codes: facts.

use super::super::Code;

/// Every `K` code, in order.
pub const ALL: &[&Code] = &[&BAD_TABLE, &BAD_ROW, &NO_TABLES];

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
