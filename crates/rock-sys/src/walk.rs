//! Everything below a folder, with links as they are written.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::FileError;

/// Something below a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WalkEntry {
    /// Its path below the folder, with slashes.
    pub path: String,
    /// What it is.
    pub kind: WalkEntryKind,
}

/// What something below a folder is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WalkEntryKind {
    /// A folder.
    Folder,
    /// A symbolic link with its text, which is not followed.
    Link(String),
    /// A regular file.
    File {
        /// Its size.
        size_bytes: u64,
        /// Its permission bits.
        mode: u32,
    },
    /// Something that is neither, in words; a name or a text that is no UTF-8 is one.
    Other(&'static str),
}

/// Everything below a folder, sorted by path. A folder that is not there has nothing.
///
/// # Errors
/// When a folder cannot be read.
pub fn walk(folder: &Path) -> Result<Vec<WalkEntry>, FileError> {
    let mut found = Vec::new();
    let mut open: Vec<(PathBuf, String)> = vec![(folder.to_owned(), String::new())];
    while let Some((path, above)) = open.pop() {
        let fault = |error| FileError::new("read", &path, error);
        let entries = match std::fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) if above.is_empty() && error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(found);
            }
            Err(error) => return Err(fault(error)),
        };
        for entry in entries {
            let entry = entry.map_err(fault)?;
            let name = entry.file_name();
            let shown = format!("{above}{}", name.to_string_lossy());
            let metadata = entry
                .metadata()
                .map_err(|error| FileError::new("read", &entry.path(), error))?;
            let kind = if name.to_str().is_none() {
                WalkEntryKind::Other("a name that is no UTF-8 text")
            } else if metadata.is_dir() {
                open.push((entry.path(), format!("{shown}/")));
                WalkEntryKind::Folder
            } else if metadata.is_file() {
                WalkEntryKind::File {
                    size_bytes: metadata.len(),
                    mode: metadata.permissions().mode() & 0o7777,
                }
            } else if metadata.is_symlink() {
                let text = std::fs::read_link(entry.path());
                let text = text.map_err(|error| FileError::new("read", &entry.path(), error))?;
                text.to_str().map_or(
                    WalkEntryKind::Other("a link whose text is no UTF-8"),
                    |text| WalkEntryKind::Link(text.to_owned()),
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

/// The first link on the way from a folder to a path below it.
pub fn link_among(folder: &Path, below: &str) -> Option<PathBuf> {
    let mut at = folder.to_owned();
    below.split('/').find_map(|word| {
        at.push(word);
        at.is_symlink().then(|| at.clone())
    })
}

#[cfg(test)]
mod tests {
    use super::link_among;

    #[test]
    fn a_link_on_the_way_to_a_folder_is_seen_wherever_it_is() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("a/b")).unwrap();
        std::os::unix::fs::symlink("b", folder.path().join("a/link")).unwrap();
        let link = Some(folder.path().join("a/link"));
        assert_eq!(link_among(folder.path(), "a/b"), None);
        assert_eq!(link_among(folder.path(), "a/link"), link);
        assert_eq!(link_among(folder.path(), "a/link/c"), link);
        assert_eq!(link_among(folder.path(), "none/of/these"), None);
    }
}
