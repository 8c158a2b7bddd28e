//! The `R` codes: what a wheel for ROCm says of itself against what it holds.

use rock_diagnostic::Code;

/// All of them, sorted by ID.
pub const ALL: &[&Code] = &[&TAG_MISMATCH];

/// Other tags.
pub const TAG_MISMATCH: Code = Code::error(
    "R103",
    "tag-mismatch",
    "The `Tag` and `Build` lines in `WHEEL` do not say the same as the file's name. Installers go by the name; tools that look inside go by `WHEEL`.\n\n`rock-matrix wheel retag` changes both.",
);
