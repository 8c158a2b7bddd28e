//! The `M` codes, for errors in the YAML files of users.

use crate::Code;

/// All `M` codes of this crate, sorted by ID.
pub const ALL: &[&Code] = &[&NOT_UTF8, &MORE_FAULTS];

/// A file that is not UTF-8.
pub const NOT_UTF8: Code = Code::error(
    "M004",
    "not-utf8",
    "The file contains bytes that are not UTF-8 text. Files saved as UTF-16 or in an old code page look like this; so do binary files.\n\nSave the file as UTF-8.",
);
/// More diagnostics than are shown.
pub const MORE_FAULTS: Code = Code::note(
    "M051",
    "more-faults",
    "There are more than a thousand diagnostics, and the rest is only counted. Often many of them have one cause.\n\nFix the ones that are shown, and run the command again.",
);
