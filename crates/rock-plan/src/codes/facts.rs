//! The `K` codes, for compatibility tables that users bring.

use rock_diagnostic::Code;

/// All codes of this module, sorted by ID.
pub const ALL: &[&Code] = &[&BAD_TABLE, &BAD_ROW, &NO_TABLES];

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
    "A row of the compatibility data is invalid: its source is not in the table of sources, its date is not a date, it is a duplicate, or a version, target or digest has the wrong form.\n\nCorrect the row. `docs/compat.md` describes its columns.",
);
/// A compatibility directory without tables.
pub const NO_TABLES: Code = Code::error(
    "K003",
    "no-tables",
    "The directory in `--compat` contains no YAML files. It replaces all of the built-in compatibility data, so it must contain every table that the command needs.",
);
