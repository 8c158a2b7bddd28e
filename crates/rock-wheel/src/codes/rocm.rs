//! The `R` codes, for wheel tags.

use rock_diagnostic::Code;

/// All `R` codes of this crate, sorted by ID.
pub const ALL: &[&Code] = &[&TAG_MISMATCH];

/// Tags in WHEEL that differ from the filename.
pub const TAG_MISMATCH: Code = Code::error(
    "R103",
    "tag-mismatch",
    "The `Tag` or `Build` lines in WHEEL differ from the filename. Installers use the filename; tools that inspect the wheel use WHEEL.\n\n`rock-matrix wheel retag` sets both.",
);
