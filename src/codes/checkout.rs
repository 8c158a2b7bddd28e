//! The `C` codes up to C099, for source trees and their patches.

use rock_diagnostic::Code;
pub use rock_source::codes::checkout::*;

/// All codes of this module, sorted by ID.
pub const ALL: &[&Code] = &[&PATCHES_DIFFER];

/// A patch set that differs from the commits.
pub const PATCHES_DIFFER: Code = Code::error(
    "C024",
    "patches-differ",
    "The patch set does not match the commits of the source tree. Without `--check`, the same command writes it.",
);
