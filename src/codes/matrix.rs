//! The `M` codes, for errors in the YAML files of users.

use rock_diagnostic::Code;
pub use rock_diagnostic::codes::matrix::*;
pub use rock_plan::codes::matrix::*;
pub use rock_yaml::codes::matrix::*;

/// All codes of this module, sorted by ID.
pub const ALL: &[&Code] = &[&NO_MATRIX_FILE];

/// No matrix files.
pub const NO_MATRIX_FILE: Code = Code::error(
    "M049",
    "no-matrix-file",
    "Without files on the command line, the matrix files in the directory `matrices/` are used, and there are none. `rock-matrix init` writes a first one.",
);
