//! Limits on the `.tar.gz` archives that are published beside wheels. [`archive::limits`](crate::archive::limits) bounds
//! the members and their paths, [`zip::limits`](super::zip::limits) wheels and the size of `PKG-INFO`.

/// Components of the path of a member. The deepest paths of published source distributions have about 20.
pub(super) const MAX_PATH_COMPONENTS: usize = 128;
/// Bytes of the paths of all folders of an archive together, including those that are not members themselves.
pub(super) const MAX_FOLDER_PATH_BYTES: usize = 64 << 20;
