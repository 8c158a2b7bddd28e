//! Names of what jobs leave that is no wheel: install trees and source distributions.

/// How the name of an install tree ends.
pub const TREE: &str = "-tree";
/// How the name of an archive of one ends. No source distribution is called so: a version follows
/// its last `-`.
pub const TREE_ARCHIVE: &str = "-tree.tar.gz";

/// How the name of a source distribution ends (PEP 625).
pub const SDIST: &str = ".tar.gz";

/// Whether a file is called a source distribution, which archives of install trees are not.
pub fn is_sdist(name: &str) -> bool {
    name.ends_with(SDIST) && !is_tree_archive(name)
}

/// Whether a file is called an archive of an install tree.
pub fn is_tree_archive(name: &str) -> bool {
    name.ends_with(TREE_ARCHIVE)
}
