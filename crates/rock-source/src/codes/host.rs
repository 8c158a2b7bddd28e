//! The `H` codes, for problems of the machine.

use rock_diagnostic::Code;

/// All codes of this module, sorted by ID.
pub const ALL: &[&Code] = &[&TOO_MUCH_OUTPUT];

/// A program that wrote too much output.
pub const TOO_MUCH_OUTPUT: Code = Code::error(
    "H045",
    "too-much-output",
    "A program whose output is parsed, such as `git ls-remote`, wrote more than 64 MiB. It was stopped and its output was discarded.\n\nRun the command to see what it prints; a server that lists millions of refs can cause this.",
);
