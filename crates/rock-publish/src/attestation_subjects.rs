//! The subjects of an attestation: digests of files, in the format of `sha256sum`.

use std::path::{Path, PathBuf};

use super::sums;
use rock_names::Digest;
use rock_sys::FileError;

/// Writes the digests of files for actions/attest, at most `limit` per file: to `first`,
/// `first-2`, `first-3` and so on, sorted by name. Removes further files of an earlier run, whose
/// subjects are outdated. Returns the paths of the files.
///
/// # Errors
/// If a file cannot be written or removed.
pub fn write_subjects(
    first: &Path,
    files: &[(&str, Digest)],
    limit: usize,
) -> Result<Vec<PathBuf>, FileError> {
    let mut files = files.to_vec();
    files.sort_by_key(|(name, _)| *name);
    let mut paths = Vec::new();
    for part in files.chunks(limit.max(1)) {
        let path = numbered(first, paths.len() + 1);
        rock_sys::write_if_changed(&path, sums(part.iter().copied()).as_bytes())?;
        paths.push(path);
    }
    let outdated = (paths.len() + 1..)
        .map(|number| numbered(first, number))
        .take_while(|path| rock_sys::is_file(path));
    for path in outdated {
        rock_sys::remove(&path)?;
    }
    Ok(paths)
}

/// Returns the path of a part: `FILE`, `FILE-2`, ….
fn numbered(first: &Path, number: usize) -> PathBuf {
    if number == 1 {
        return first.to_owned();
    }
    let mut name = first.as_os_str().to_owned();
    name.push(format!("-{number}"));
    name.into()
}

#[cfg(test)]
mod tests {
    use super::write_subjects;
    use rock_names::Digest;

    #[test]
    fn parts_are_numbered_from_two_and_outdated_ones_are_removed() {
        let directory = tempfile::tempdir().unwrap();
        let first = directory.path().join("subjects.txt");
        let names = ["c", "a", "b", "e", "d"];
        let files: Vec<(&str, Digest)> = names
            .iter()
            .map(|name| (*name, Digest::new([7; 32])))
            .collect();
        let paths = write_subjects(&first, &files, 2).unwrap();
        assert_eq!(
            rock_sys::entry_names(directory.path()).unwrap(),
            ["subjects.txt", "subjects.txt-2", "subjects.txt-3"]
        );
        let text = rock_sys::read_text(&paths[2], 1000).unwrap();
        assert_eq!(text, format!("{}  e\n", "07".repeat(32)));

        let paths = write_subjects(&first, &files, 5).unwrap();
        assert_eq!(paths, std::slice::from_ref(&first));
        assert_eq!(
            rock_sys::entry_names(directory.path()).unwrap(),
            ["subjects.txt"]
        );
        assert_eq!(
            write_subjects(&first, &[], 5).unwrap(),
            [] as [std::path::PathBuf; 0]
        );
        assert!(rock_sys::entry_names(directory.path()).unwrap().is_empty());
    }
}
