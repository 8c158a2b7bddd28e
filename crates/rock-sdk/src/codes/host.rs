//! The `H` codes, for problems of the machine.

pub(crate) use rock_diagnostic::codes::host::CANNOT_READ_FILE;
