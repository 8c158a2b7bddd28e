//! Names of install trees, for jobs that leave no wheel.

/// How the name of an install tree ends.
pub const TREE: &str = "-tree";
/// How the name of an archive of one ends. No source distribution is called so: a version follows its last `-`.
pub const TREE_ARCHIVE: &str = "-tree.tar.gz";

/// Whether a file is called an archive of an install tree.
pub fn is_tree_archive(name: &str) -> bool {
    name.ends_with(TREE_ARCHIVE)
}
