//! The `R` codes: wheel tags.

use rock_diagnostic::Code;

/// All `R` codes of this crate, sorted by ID.
pub const ALL: &[&Code] = &[&TAG_MISMATCH];

/// Tags in WHEEL that differ from the filename.
pub const TAG_MISMATCH: Code = Code::error(
    "R103",
    "tag-mismatch",
    "The `Tag` and `Build` lines in `WHEEL` do not say the same as the file's name. Installers go by the name; tools that look inside go by `WHEEL`.\n\n`rock-matrix wheel retag` changes both.",
);
