//! Filenames of job outputs other than wheels: install trees and sdists.

/// The suffix of an install tree's name.
pub const TREE_SUFFIX: &str = "-tree";
/// The suffix of an archived install tree's name. It is never that of an sdist, whose last `-` is
/// followed by a version.
pub const TREE_ARCHIVE_SUFFIX: &str = "-tree.tar.gz";

/// The suffix of an sdist's name (PEP 625).
pub const SDIST_SUFFIX: &str = ".tar.gz";

/// Returns whether a filename is that of an sdist and not that of an archived install tree.
pub fn is_sdist(name: &str) -> bool {
    name.ends_with(SDIST_SUFFIX) && !is_tree_archive(name)
}

/// Returns whether a filename is that of an archived install tree.
pub fn is_tree_archive(name: &str) -> bool {
    name.ends_with(TREE_ARCHIVE_SUFFIX)
}
