//! The `H` codes, for values that an output form cannot represent.

use rock_diagnostic::Code;

/// All codes of this module, sorted by ID.
pub const ALL: &[&Code] = &[&UNWRITABLE_VARIABLE];

/// A value that the output form cannot represent.
pub const UNWRITABLE_VARIABLE: Code = Code::error(
    "H026",
    "unwritable-variable",
    "The requested output form cannot represent the value of a variable: a line break in a file for `docker run --env-file`, or a directory with `:` in its name in a list of directories. Nothing was written, because it would set another value.",
);
