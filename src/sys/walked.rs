//! Everything below a folder, with links as they are written.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::FileError;

/// Something below a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Walked {
    /// Its path below the folder, with slashes.
    pub path: String,
    /// What it is.
    pub kind: WalkedKind,
}

/// What something below a folder is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WalkedKind {
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
pub fn walked(folder: &Path) -> Result<Vec<Walked>, FileError> {
    let mut found = Vec::new();
    let mut open: Vec<(PathBuf, String)> = vec![(folder.to_owned(), String::new())];
    while let Some((path, above)) = open.pop() {
        let fault = |error| FileError::new("read", &path, error);
        let entries = match std::fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) if above.is_empty() && error.kind() == std::io::ErrorKind::NotFound => return Ok(found),
            Err(error) => return Err(fault(error)),
        };
        for entry in entries {
            let entry = entry.map_err(fault)?;
            let name = entry.file_name();
            let shown = format!("{above}{}", name.to_string_lossy());
            let metadata = entry.metadata().map_err(|error| FileError::new("read", &entry.path(), error))?;
            let kind = if name.to_str().is_none() {
                WalkedKind::Other("a name that is no UTF-8 text")
            } else if metadata.is_dir() {
                open.push((entry.path(), format!("{shown}/")));
                WalkedKind::Folder
            } else if metadata.is_file() {
                WalkedKind::File { size_bytes: metadata.len(), mode: metadata.permissions().mode() & 0o7777 }
            } else if metadata.is_symlink() {
                let text = std::fs::read_link(entry.path());
                let text = text.map_err(|error| FileError::new("read", &entry.path(), error))?;
                text.to_str().map_or(WalkedKind::Other("a link whose text is no UTF-8"), |text| {
                    WalkedKind::Link(text.to_owned())
                })
            } else {
                WalkedKind::Other(super::files::kind_of(metadata.file_type()).unwrap_or("a device"))
            };
            found.push(Walked { path: shown, kind });
        }
    }
    found.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(found)
}
