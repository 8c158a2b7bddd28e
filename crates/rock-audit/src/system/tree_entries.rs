//! Listing of a directory tree with files and symbolic links.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::embed::{TreeEntry, TreeEntryKind};
use rock_sys::FileError;

/// Returns every file and symbolic link below a directory, sorted by path. Links are not followed.
///
/// # Errors
/// Returns an error if a directory cannot be read or a name is not UTF-8.
pub(super) fn tree_entries(directory: &Path) -> Result<Vec<TreeEntry>, FileError> {
    let root = std::fs::canonicalize(directory)
        .map_err(|error| FileError::new("read", directory, error))?;
    let mut entries = entries_below(&root, &root)?;
    entries.sort_by(|left, right| left.path.cmp(&right.path));
    Ok(entries)
}

/// Returns the entries below a directory of the tree with this root, in no particular order.
fn entries_below(root: &Path, directory: &Path) -> Result<Vec<TreeEntry>, FileError> {
    let read_error = |error| FileError::new("read", directory, error);
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(read_error)? {
        let path = entry.map_err(read_error)?.path();
        let metadata = std::fs::symlink_metadata(&path)
            .map_err(|error| FileError::new("read", &path, error))?;
        if metadata.is_dir() {
            entries.extend(entries_below(root, &path)?);
            continue;
        }
        let kind = if metadata.is_file() {
            TreeEntryKind::File {
                is_executable: metadata.permissions().mode() & 0o111 != 0,
            }
        } else if metadata.is_symlink() {
            link(root, &path)?
        } else {
            TreeEntryKind::Other(rock_sys::special_kind(metadata.file_type()).unwrap_or("a device"))
        };
        entries.push(TreeEntry {
            path: relative(root, &path)?,
            kind,
        });
    }
    Ok(entries)
}

/// Returns the kind of a symbolic link by the file that it resolves to.
fn link(root: &Path, path: &Path) -> Result<TreeEntryKind, FileError> {
    let Ok(target) = std::fs::canonicalize(path) else {
        return Ok(TreeEntryKind::Other("a link that leads nowhere"));
    };
    if !target.starts_with(root) {
        return Ok(TreeEntryKind::Other(
            "a link that leads out of the directory",
        ));
    }
    if target.is_dir() {
        return Ok(TreeEntryKind::LinkToFolder);
    }
    Ok(if target.is_file() {
        TreeEntryKind::LinkToFile(relative(root, &target)?)
    } else {
        TreeEntryKind::Other("a link to something that is not a file")
    })
}

/// Returns the path relative to the root, with slashes.
fn relative(root: &Path, path: &Path) -> Result<String, FileError> {
    let below: PathBuf = path.strip_prefix(root).unwrap_or(path).to_owned();
    below.to_str().map(str::to_owned).ok_or_else(|| {
        let reason = "its name is not UTF-8".to_owned();
        FileError {
            action: "read",
            path: path.to_owned(),
            reason,
            source: None,
        }
    })
}
