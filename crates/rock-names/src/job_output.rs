//! Filenames of job outputs: wheels, install trees and sdists.

/// The suffix of an install tree's name.
pub const TREE_SUFFIX: &str = "-tree";
/// The suffix of an archived install tree's name. It is never that of an sdist, whose last `-` is
/// followed by a version.
pub const TREE_ARCHIVE_SUFFIX: &str = "-tree.tar.gz";

/// The suffix of a wheel's name (PEP 427).
const WHEEL_SUFFIX: &str = ".whl";

/// The suffix of an sdist's name (PEP 625).
pub const SDIST_SUFFIX: &str = ".tar.gz";

/// Returns whether a filename is that of an sdist and not that of an archived install tree.
pub fn is_sdist(name: &str) -> bool {
    name.ends_with(SDIST_SUFFIX) && !is_tree_archive(name)
}

/// Returns whether a filename is that of a wheel, an sdist or an archived install tree, the files
/// that are published. The extension of a wheel must be in lower case.
pub fn is_asset_name(name: &str) -> bool {
    name.ends_with(WHEEL_SUFFIX) || name.ends_with(SDIST_SUFFIX)
}

/// Returns whether a filename is that of an archived install tree.
pub fn is_tree_archive(name: &str) -> bool {
    name.ends_with(TREE_ARCHIVE_SUFFIX)
}

#[cfg(test)]
mod tests {
    use super::{is_asset_name, is_sdist, is_tree_archive};

    #[test]
    fn an_asset_is_a_wheel_an_sdist_or_an_archived_tree() {
        let kinds = |name: &str| (is_asset_name(name), is_sdist(name), is_tree_archive(name));
        for (name, expected) in [
            ("a-1-py3-none-any.whl", (true, false, false)),
            ("a-1.tar.gz", (true, true, false)),
            ("a-1-tree.tar.gz", (true, false, true)),
            ("a-1-py3-none-any.WHL", (false, false, false)),
            ("a-1-py3-none-any.whl.metadata", (false, false, false)),
            ("notes.gz", (false, false, false)),
            ("SHA256SUMS", (false, false, false)),
        ] {
            assert_eq!(kinds(name), expected, "{name}");
        }
    }
}
