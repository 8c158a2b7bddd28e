//! The `M` codes: what is wrong in a YAML file of the user.

use crate::Code;

/// All of them, sorted by ID.
pub const ALL: &[&Code] = &[&NOT_UTF8, &MORE_FAULTS];

/// Bytes that are not UTF-8.
pub const NOT_UTF8: Code = Code::error(
    "M004",
    "not-utf8",
    "The file holds bytes that are not UTF-8 text. Files saved as UTF-16 or in an old code page look like this; so do files that are no text at all.\n\nSave the file as UTF-8.",
);
/// More faults than are shown.
pub const MORE_FAULTS: Code = Code::note(
    "M051",
    "more-faults",
    "There are more than a thousand faults, and the rest is only counted. Many of them usually have one cause.",
);
