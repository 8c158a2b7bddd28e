//! The order of files on a page.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::{FileKind, IndexFile, IndexFolder};
use rock_bytes::start_threads;
use rock_names::Version;

/// A file with the normalized name of its project.
pub type NormalizedFile<'f> = (String, &'f IndexFile);

/// Sorts files by directory, project, version, Python and ABI tag, then by name. Numbers are
/// compared as numbers: `cp39` sorts before `cp310`, and torch 2.9 before 2.10.
pub fn sorted<'f>(files: &[&'f IndexFile]) -> Vec<NormalizedFile<'f>> {
    // Comparing directories takes long, and files of a directory often follow each other.
    let mut folders: BTreeMap<&IndexFolder, Vec<&'f IndexFile>> = BTreeMap::new();
    for files in files.chunk_by(|a, b| a.folder == b.folder) {
        folders.entry(&files[0].folder).or_default().extend(files);
    }
    start_threads();
    let sorted = |files: Vec<&'f IndexFile>| {
        let keyed = files
            .into_par_iter()
            .map(|file| (FileSortKey::of(file), file));
        let mut keyed: Vec<(FileSortKey<'f>, &IndexFile)> = keyed.collect();
        keyed.par_sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        keyed
    };
    let folders: Vec<Vec<_>> = folders
        .into_values()
        .collect::<Vec<_>>()
        .into_par_iter()
        .map(sorted)
        .collect();
    let keyed = folders.into_iter().flatten();
    keyed.map(|(key, file)| (key.project, file)).collect()
}

/// Sorts items by the file that each of them contains, in the order of [`sorted`].
pub fn sort_by_file<T>(items: &mut Vec<T>, file: impl Fn(&T) -> &IndexFile) {
    let mut order: Vec<usize> = (0..items.len()).collect();
    let keys: Vec<(&IndexFolder, FileSortKey<'_>)> = items
        .iter()
        .map(|item| (&file(item).folder, FileSortKey::of(file(item))))
        .collect();
    order.sort_by(|a, b| keys[*a].cmp(&keys[*b]));
    drop(keys);
    let mut given: Vec<Option<T>> = items.drain(..).map(Some).collect();
    items.extend(order.into_iter().filter_map(|at| given[at].take()));
}

/// The sort key of a file in its directory, computed once.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct FileSortKey<'f> {
    project: String,
    version: &'f Version,
    /// `None` for a source distribution, which sorts before the wheels.
    tags: Option<[Vec<NaturalTag<'f>>; 2]>,
    name: &'f str,
}

/// A tag with its digits parsed as numbers.
type NaturalTag<'t> = (&'t str, u64, u64);

impl<'f> FileSortKey<'f> {
    fn of(file: &'f IndexFile) -> Self {
        let tags = |tags: &'f [String]| tags.iter().map(|tag| numbered(tag)).collect();
        Self {
            project: file.project.normalized(),
            version: &file.version,
            tags: match &file.kind {
                FileKind::Sdist | FileKind::Tree => None,
                FileKind::Wheel(wheel) => {
                    Some([wheel.python_tags().as_slice(), wheel.abi_tags().as_slice()].map(tags))
                }
            },
            name: &file.name,
        }
    }
}

/// Splits `cp310` into `cp`, 3 and 10: the first digit is the major version, the rest the minor.
fn numbered(tag: &str) -> NaturalTag<'_> {
    let digits = tag.find(|c: char| c.is_ascii_digit()).unwrap_or(tag.len());
    let (letters, rest) = tag.split_at(digits);
    let end = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    let (major, minor) = rest[..end].split_at(end.min(1));
    (
        letters,
        major.parse().unwrap_or(0),
        minor.parse().unwrap_or(0),
    )
}

#[cfg(test)]
mod tests {
    use super::numbered;

    #[test]
    fn nine_sorts_before_ten() {
        let mut tags = ["cp312", "py3", "cp39", "cp310"];
        tags.sort_by_key(|tag| numbered(tag));
        assert_eq!(tags, ["cp39", "cp310", "cp312", "py3"]);
    }
}
