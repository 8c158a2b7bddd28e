//! Limits on the files of a wheel. [`zip::limits`](super::zip::limits) bounds wheels as archives
//! and the size of their metadata.

/// Tags of WHEEL that are compared with the file name, which has room for far fewer.
pub(super) const MAX_TAGS: usize = 1 << 17;
/// Size in bytes of a Python file that is searched for a version string.
pub(super) const MAX_VERSION_FILE_BYTES: u64 = 1 << 20;
