//! Size limits of the files that select sources.

/// Maximum size of a source manifest in bytes; usual ones have a few kB.
pub const LARGEST_MANIFEST_BYTES: u64 = 1 << 20;
/// Maximum size in bytes of a file of torch with pins; usual ones have a few kB.
pub(crate) const LARGEST_PIN_FILE_BYTES: u64 = 4 << 20;
/// Maximum size in bytes of the state file or the version file of a tree to lock.
pub(crate) const LARGEST_LOCKED_BYTES: u64 = 16 << 20;
