//! Scratch space for archive members that must be read out of order.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::{FileError, free_bytes};
use rock_bytes::{ReadAt, ScratchStorage};
use rock_host::proc;

/// Maximum size that is kept in memory; more is written to an unnamed temporary file.
const IN_MEMORY_BYTES: u64 = 512 << 20;

/// Allocates scratch space for `size_bytes`, in memory or in the directory for temporary files.
///
/// # Errors
///
/// Returns an error if a temporary file cannot be created.
pub fn allocate_scratch(size_bytes: u64) -> io::Result<Box<dyn ScratchStorage>> {
    ScratchSpace::default().allocate(size_bytes)
}

/// A directory for scratch files.
#[derive(Debug, Clone, Default)]
pub struct ScratchSpace {
    directory: Option<PathBuf>,
}

impl ScratchSpace {
    /// Uses `directory`, or the directory for temporary files (`TMPDIR`) if it is `None`.
    ///
    /// # Errors
    ///
    /// Returns an error if no file can be created in `directory`.
    pub fn new(directory: Option<&Path>) -> Result<Self, FileError> {
        let space = Self {
            directory: directory.map(Path::to_owned),
        };
        if space.directory.is_some() {
            space
                .unnamed_file()
                .map_err(|error| space.file_error(error))?;
        }
        Ok(space)
    }

    /// Uses the nearest existing directory above a path that will be written.
    ///
    /// # Errors
    ///
    /// Returns an error if no file can be created in it.
    pub fn near(path: &Path) -> Result<Self, FileError> {
        let existing = path.ancestors().find(|directory| directory.is_dir());
        Self::new(Some(existing.unwrap_or(Path::new("."))))
    }

    /// Allocates scratch space for `size_bytes`.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be created.
    pub fn allocate(&self, size_bytes: u64) -> io::Result<Box<dyn ScratchStorage>> {
        if size_bytes <= IN_MEMORY_BYTES {
            return Ok(Box::new(Vec::with_capacity(
                usize::try_from(size_bytes).unwrap_or(0),
            )));
        }
        Ok(Box::new(ScratchFile {
            file: self.unnamed_file()?,
            size: 0,
        }))
    }

    /// Returns the bytes that may be written here without getting in the way: a quarter of the free
    /// disk space, but at most half of the available memory, so that the page cache can hold them.
    /// Returns 0 if either is unknown.
    pub fn budget_bytes(&self) -> u64 {
        let free_bytes = self
            .directory
            .as_deref()
            .map_or_else(|| free_bytes(&std::env::temp_dir()), free_bytes);
        let memory = std::fs::read_to_string("/proc/meminfo")
            .ok()
            .and_then(|text| proc::parse_meminfo(&text));
        (free_bytes.unwrap_or(0) / 4).min(memory.map_or(0, |memory| memory.available_bytes / 2))
    }

    /// Returns the error for scratch space that cannot be allocated or written.
    pub fn file_error(&self, error: io::Error) -> FileError {
        FileError::new(
            "write to",
            self.directory.as_deref().unwrap_or(&std::env::temp_dir()),
            error,
        )
    }

    /// Creates a file without a name, which is removed when it is closed.
    fn unnamed_file(&self) -> io::Result<File> {
        match &self.directory {
            Some(directory) => tempfile::tempfile_in(directory),
            None => tempfile::tempfile(),
        }
    }
}

/// Scratch space in a file.
struct ScratchFile {
    file: File,
    size: u64,
}

impl ReadAt for ScratchFile {
    fn size_bytes(&self) -> u64 {
        self.size
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        FileExt::read_at(&self.file, buffer, offset)
    }
}

impl ScratchStorage for ScratchFile {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.size += bytes.len() as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{ScratchSpace, allocate_scratch};

    #[test]
    fn large_scratch_space_reads_back() {
        for size in [10, 1 << 30] {
            let mut space = allocate_scratch(size).unwrap();
            space.append(b"first ").unwrap();
            space.append(b"second").unwrap();
            let mut read = [0; 6];
            space.read_exact_at(&mut read, 6).unwrap();
            assert_eq!((&read, space.size_bytes()), (b"second", 12));
        }
    }

    #[test]
    fn an_unusable_directory_is_reported_at_once() {
        let directory = tempfile::tempdir().unwrap();
        let link = directory.path().join("link");
        std::fs::create_dir(directory.path().join("real")).unwrap();
        std::os::unix::fs::symlink("real", &link).unwrap();
        let mut space = ScratchSpace::new(Some(&link))
            .unwrap()
            .allocate(1 << 30)
            .unwrap();
        space.append(b"bytes").unwrap();
        assert_eq!(std::fs::read_dir(&link).unwrap().count(), 0);
        assert!(ScratchSpace::new(Some(&directory.path().join("none"))).is_err());
        assert_eq!(
            ScratchSpace::near(&directory.path().join("none/of/these"))
                .unwrap()
                .directory
                .as_deref(),
            Some(directory.path())
        );
        assert_eq!(
            ScratchSpace::near(std::path::Path::new("none"))
                .unwrap()
                .directory
                .as_deref(),
            Some(".".as_ref())
        );
    }
}
