//! Lists a directory tree without following symbolic links.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::FileError;

/// A file, directory or link below a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WalkEntry {
    /// The path relative to the directory, separated by `/`.
    pub path: String,
    /// The kind of the entry.
    pub kind: WalkEntryKind,
}

/// The kind of a [`WalkEntry`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WalkEntryKind {
    /// A directory.
    Directory,
    /// A symbolic link with its target text.
    Symlink(String),
    /// A regular file.
    File {
        /// Its size.
        size_bytes: u64,
        /// Its permission bits, including set-user-ID, set-group-ID and sticky bit.
        mode: u32,
    },
    /// Anything else, described in words; also names and link texts that are not valid UTF-8.
    Other(&'static str),
}

/// Returns everything below a directory, sorted by path. A missing directory is empty.
///
/// # Errors
///
/// Returns an error if a directory or a file's metadata cannot be read.
pub fn walk(directory: &Path) -> Result<Vec<WalkEntry>, FileError> {
    let mut found = Vec::new();
    let mut pending: Vec<(PathBuf, String)> = vec![(directory.to_owned(), String::new())];
    while let Some((path, above)) = pending.pop() {
        let entries = match std::fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) if above.is_empty() && error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(found);
            }
            Err(error) => return Err(FileError::new("read", &path, error)),
        };
        for entry in entries {
            let entry = entry.map_err(FileError::context("read", &path))?;
            let name = entry.file_name();
            let shown = format!("{above}{}", name.to_string_lossy());
            let metadata = entry
                .metadata()
                .map_err(FileError::context("read", &entry.path()))?;
            let kind = if name.to_str().is_none() {
                WalkEntryKind::Other("a name that is not UTF-8")
            } else if metadata.is_dir() {
                pending.push((entry.path(), format!("{shown}/")));
                WalkEntryKind::Directory
            } else if metadata.is_file() {
                WalkEntryKind::File {
                    size_bytes: metadata.len(),
                    mode: metadata.permissions().mode() & 0o7777,
                }
            } else if metadata.is_symlink() {
                let text = std::fs::read_link(entry.path());
                let text = text.map_err(FileError::context("read", &entry.path()))?;
                text.to_str().map_or(
                    WalkEntryKind::Other("a link whose target is not UTF-8"),
                    |text| WalkEntryKind::Symlink(text.to_owned()),
                )
            } else {
                WalkEntryKind::Other(
                    super::files::special_kind(metadata.file_type()).unwrap_or("a device"),
                )
            };
            found.push(WalkEntry { path: shown, kind });
        }
    }
    found.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(found)
}

/// Returns the first symbolic link among the components of `path` below `directory`.
pub fn find_link_on_path(directory: &Path, path: &str) -> Option<PathBuf> {
    let mut at = directory.to_owned();
    path.split('/').find_map(|name| {
        at.push(name);
        at.is_symlink().then(|| at.clone())
    })
}

#[cfg(test)]
mod tests {
    use super::find_link_on_path;

    #[test]
    fn a_link_is_found_at_any_component() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(directory.path().join("a/b")).unwrap();
        std::os::unix::fs::symlink("b", directory.path().join("a/link")).unwrap();
        let link = Some(directory.path().join("a/link"));
        assert_eq!(find_link_on_path(directory.path(), "a/b"), None);
        assert_eq!(find_link_on_path(directory.path(), "a/link"), link);
        assert_eq!(find_link_on_path(directory.path(), "a/link/c"), link);
        assert_eq!(find_link_on_path(directory.path(), "none/of/these"), None);
    }
}
