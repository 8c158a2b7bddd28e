//! The order of files on a page.

use rayon::slice::ParallelSliceMut as _;

use super::{FileKind, Folder, IndexFile};
use crate::names::{TagSet, Version};

/// Sorts files by folder, project, version, Python, and last by name. Fields are compared as what they are: `cp39`
/// stands before `cp310`, and torch 2.9 before 2.10.
pub fn sort(files: &mut [IndexFile]) {
    files.par_sort_by_cached_key(Key::of);
}

/// Sorts what holds files as [`sort`] sorts files.
pub fn sort_by_file<T>(items: &mut [T], file: impl Fn(&T) -> &IndexFile) {
    items.sort_by_cached_key(|item| Key::of(file(item)));
}

/// What files are compared by, made once for each.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    folder: Folder,
    project: String,
    version: Version,
    /// None for a source distribution, which stands before the wheels.
    tags: Option<[Vec<Numbered>; 2]>,
    name: String,
}

/// A tag with its numbers as numbers.
type Numbered = (String, u64, u64);

impl Key {
    fn of(file: &IndexFile) -> Self {
        let tags = |set: &TagSet| set.tags().iter().map(|tag| numbered(tag)).collect();
        Self {
            folder: file.folder.clone(),
            project: file.project.normalized(),
            version: file.version.clone(),
            tags: match &file.kind {
                FileKind::Sdist => None,
                FileKind::Wheel(wheel) => Some([&wheel.python, &wheel.abi].map(tags)),
            },
            name: file.name.clone(),
        }
    }
}

/// `cp310` as `cp`, 3, 10: the first digit is the major version, the rest the minor.
fn numbered(tag: &str) -> Numbered {
    let digits = tag.find(|c: char| c.is_ascii_digit()).unwrap_or(tag.len());
    let (letters, rest) = tag.split_at(digits);
    let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
    let (major, minor) = number.split_at(number.len().min(1));
    (letters.to_owned(), major.parse().unwrap_or(0), minor.parse().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::numbered;

    #[test]
    fn nine_stands_before_ten() {
        let mut tags = ["cp312", "py3", "cp39", "cp310"];
        tags.sort_by_key(|tag| numbered(tag));
        assert_eq!(tags, ["cp39", "cp310", "cp312", "py3"]);
    }
}
