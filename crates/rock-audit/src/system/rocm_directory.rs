//! An installed ROCm.

use std::path::{Path, PathBuf};

use super::tree_entries;
use crate::embed::TreeEntry;
use rock_elf::{Elf, tag};
use rock_sys::{FileError, PositionalFile, ReopenedFile};

/// The directory that ROCm is installed in.
#[derive(Debug)]
pub(crate) struct RocmDirectory {
    path: PathBuf,
}

impl RocmDirectory {
    pub(crate) fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
        }
    }

    /// Returns every file and symbolic link, sorted by path.
    ///
    /// # Errors
    /// Returns an error if a directory cannot be read or a name is not UTF-8.
    pub(crate) fn entries(&self) -> Result<Vec<TreeEntry>, FileError> {
        tree_entries(&self.path)
    }

    /// Returns the SONAME of a library.
    pub(crate) fn soname(&self, path: &str) -> Option<String> {
        let file = PositionalFile::open(&self.path.join(path)).ok()?;
        let elf = Elf::read(&file).ok()?;
        let strings = elf.string_table(&file).ok()?;
        elf.dynamic_strings(&strings, tag::SONAME).ok()?.pop()
    }

    /// Opens a file for reads that may come much later.
    ///
    /// # Errors
    /// Returns an error if it is not a regular file.
    pub(crate) fn open(&self, path: &str) -> Result<ReopenedFile, FileError> {
        ReopenedFile::new(&self.path.join(path))
    }
}
