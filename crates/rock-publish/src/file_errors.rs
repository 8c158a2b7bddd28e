//! Diagnostics for files and directories that cannot be read or written.

use rock_diagnostic::{Diagnostic, Diagnostics, ExitClass};
use rock_sys::FileError;

use crate::codes::release as codes;

/// Returns the error for a file of a release or an index, which the machine is responsible for.
pub(crate) fn machine_error(error: FileError) -> Diagnostics {
    Diagnostics::from(error).exits_with(ExitClass::Machine)
}

/// Returns the error for a directory that cannot be replaced.
pub(crate) fn not_replaceable(error: &FileError) -> Diagnostics {
    Diagnostics::from(
        Diagnostic::new(&codes::CANNOT_REPLACE_FOLDER, error.to_string())
            .note("the existing files were not changed")
            .help("use a directory whose parent is writable, for example one below it"),
    )
    .exits_with(ExitClass::Machine)
}
