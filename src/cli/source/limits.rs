//! Limits on files that say which sources are meant.

/// The largest manifest of sources in bytes; one has a few kB.
pub(super) const LARGEST_MANIFEST_BYTES: u64 = 1 << 20;
/// The largest file of torch that pins are read from, in bytes; they have a few kB.
pub(super) const LARGEST_PIN_FILE_BYTES: u64 = 4 << 20;
/// The largest state of a checkout, or file with a version, that is locked, in bytes.
pub(super) const LARGEST_LOCKED_BYTES: u64 = 16 << 20;
