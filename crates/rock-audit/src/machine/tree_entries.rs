//! Listing of a directory tree with files and symbolic links.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::{TreeEntry, TreeEntryKind};
use rock_sys::FileError;

/// Returns every file and symbolic link below a directory, sorted by path. Links are not followed.
///
/// # Errors
/// Returns an error if a directory cannot be read or a name is not UTF-8.
pub fn tree_entries(folder: &Path) -> Result<Vec<TreeEntry>, FileError> {
    let root =
        std::fs::canonicalize(folder).map_err(|error| FileError::new("read", folder, error))?;
    let mut found = Vec::new();
    add(&root, &root, &mut found)?;
    found.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(found)
}

fn add(root: &Path, folder: &Path, found: &mut Vec<TreeEntry>) -> Result<(), FileError> {
    let fault = |error| FileError::new("read", folder, error);
    for entry in std::fs::read_dir(folder).map_err(fault)? {
        let path = entry.map_err(fault)?.path();
        let metadata = std::fs::symlink_metadata(&path)
            .map_err(|error| FileError::new("read", &path, error))?;
        if metadata.is_dir() {
            add(root, &path, found)?;
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
        found.push(TreeEntry {
            path: relative(root, &path)?,
            kind,
        });
    }
    Ok(())
}

/// Returns the kind of a symbolic link by the file that it resolves to.
fn link(root: &Path, path: &Path) -> Result<TreeEntryKind, FileError> {
    let Ok(target) = std::fs::canonicalize(path) else {
        return Ok(TreeEntryKind::Other("a link that leads nowhere"));
    };
    if !target.starts_with(root) {
        return Ok(TreeEntryKind::Other("a link that leads out of the folder"));
    }
    if target.is_dir() {
        return Ok(TreeEntryKind::LinkToFolder);
    }
    Ok(if target.is_file() {
        TreeEntryKind::LinkToFile(relative(root, &target)?)
    } else {
        TreeEntryKind::Other("a link to something that is no file")
    })
}

/// Returns the path relative to the root, with slashes.
fn relative(root: &Path, path: &Path) -> Result<String, FileError> {
    let below: PathBuf = path.strip_prefix(root).unwrap_or(path).to_owned();
    below.to_str().map(str::to_owned).ok_or_else(|| {
        let reason = "its name is no UTF-8 text".to_owned();
        FileError {
            action: "read",
            path: path.to_owned(),
            reason,
            source: None,
        }
    })
}
