//! Limits on the files of a wheel, and on the `.tar.gz` archives that are published beside wheels.
//! [`zip::limits`](super::zip::limits) bounds wheels as archives and the size of their metadata,
//! [`archive::limits`](crate::archive::limits) the members of a `.tar.gz` and their paths.

/// Tags of WHEEL that are compared with the file name, which has room for far fewer.
pub(super) const MAX_TAGS: usize = 1 << 17;
/// Bytes of a Python file that is searched for a version string.
pub(super) const MAX_VERSION_FILE_BYTES: u64 = 1 << 20;

/// Components of the path of a member of a `.tar.gz`. The deepest paths of published source distributions have about 20.
pub(super) const MAX_PATH_COMPONENTS: usize = 128;
/// Bytes of the paths of all folders of an archive together, including those that are not members themselves.
pub(super) const MAX_FOLDER_PATH_BYTES: usize = 64 << 20;
