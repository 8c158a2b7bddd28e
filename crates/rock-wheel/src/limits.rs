//! Limits on the files of a wheel. [`zip::limits`](super::zip::limits) has those on archives and
//! the size of metadata files.

/// Maximum number of tags of WHEEL that are compared with the filename, which has room for far
/// fewer.
pub(super) const MAX_TAGS: usize = 1 << 17;
/// Maximum size of a Python file that is searched for a version string.
pub(super) const MAX_VERSION_FILE_BYTES: u64 = 1 << 20;
