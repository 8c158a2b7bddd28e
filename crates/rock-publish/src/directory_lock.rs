//! Locks of directories that are replaced as a whole.

use std::path::Path;

use rock_diagnostic::Diagnostics;
use rock_sys::DirectorySwap;

use crate::file_errors::not_replaceable;

/// Locks a directory for its replacement. Calls `on_wait` before waiting for another process.
///
/// # Errors
/// Its parent cannot be locked, or it has none.
pub fn lock_for_replacement(
    path: &Path,
    on_wait: impl FnOnce(),
) -> Result<DirectorySwap, Diagnostics> {
    DirectorySwap::begin(path, on_wait).map_err(|error| not_replaceable(&error))
}
