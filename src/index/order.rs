//! The order of files on a page.

use std::cmp::Ordering;

use super::{FileKind, IndexFile};
use crate::names::{TagSet, WheelName};

/// Sorts files by folder, project, version, Python, and last by name. Fields are compared as what they are: `cp39`
/// stands before `cp310`, and torch 2.9 before 2.10.
pub fn sort(files: &mut [IndexFile]) {
    files.sort_by(compare);
}

/// Sorts what holds files as [`sort`] sorts files.
pub fn sort_by_file<T>(items: &mut [T], file: impl Fn(&T) -> &IndexFile) {
    items.sort_by(|one, other| compare(file(one), file(other)));
}

fn compare(one: &IndexFile, other: &IndexFile) -> Ordering {
    one.folder
        .cmp(&other.folder)
        .then_with(|| one.project.normalized().cmp(&other.project.normalized()))
        .then_with(|| one.version.public().cmp(&other.version.public()))
        .then_with(|| one.version.cmp(&other.version))
        .then_with(|| match (&one.kind, &other.kind) {
            (FileKind::Sdist, FileKind::Sdist) => Ordering::Equal,
            (FileKind::Sdist, FileKind::Wheel(_)) => Ordering::Less,
            (FileKind::Wheel(_), FileKind::Sdist) => Ordering::Greater,
            (FileKind::Wheel(one), FileKind::Wheel(other)) => tags(one).cmp(&tags(other)),
        })
        .then_with(|| one.name.cmp(&other.name))
}

/// The tags of a wheel with their numbers as numbers.
fn tags(name: &WheelName) -> [Vec<(&str, u64, u64)>; 2] {
    [&name.python, &name.abi].map(|set: &TagSet| set.tags().iter().map(|tag| numbered(tag)).collect())
}

/// `cp310` as `cp`, 3, 10: the first digit is the major version, the rest the minor.
fn numbered(tag: &str) -> (&str, u64, u64) {
    let digits = tag.find(|c: char| c.is_ascii_digit()).unwrap_or(tag.len());
    let (letters, rest) = tag.split_at(digits);
    let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
    let (major, minor) = number.split_at(number.len().min(1));
    (letters, major.parse().unwrap_or(0), minor.parse().unwrap_or(0))
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
