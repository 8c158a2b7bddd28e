//! Room for a member that must be read out of order.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::{FileError, free_bytes};
use rock_bytes::{ReadAt, Scratch};
use rock_host::proc;

/// Up to here it is memory; more goes to a file without a name, in the folder for temporary files.
const IN_MEMORY_BYTES: u64 = 512 << 20;

/// Room for so many bytes, in the folder for temporary files where it is no memory.
///
/// # Errors
/// When no temporary file can be made.
pub fn scratch(size_bytes: u64) -> io::Result<Box<dyn Scratch>> {
    ScratchSpace::default().scratch(size_bytes)
}

/// The folder for what memory is not to hold.
#[derive(Debug, Clone, Default)]
pub struct ScratchSpace {
    folder: Option<PathBuf>,
}

impl ScratchSpace {
    /// A folder of one's own, or the one for temporary files (`TMPDIR`).
    ///
    /// # Errors
    /// When no file can be made in a folder of one's own.
    pub fn new(folder: Option<&Path>) -> Result<Self, FileError> {
        let room = Self {
            folder: folder.map(Path::to_owned),
        };
        if room.folder.is_some() {
            room.file().map_err(|error| room.fault(error))?;
        }
        Ok(room)
    }

    /// The folder of a path that will be written, or the nearest above it that is there.
    ///
    /// # Errors
    /// When no file can be made in it.
    pub fn beside(path: &Path) -> Result<Self, FileError> {
        let there = path.ancestors().find(|folder| folder.is_dir());
        Self::new(Some(there.unwrap_or(Path::new("."))))
    }

    /// Room for so many bytes.
    ///
    /// # Errors
    /// When no file can be made.
    pub fn scratch(&self, size_bytes: u64) -> io::Result<Box<dyn Scratch>> {
        if size_bytes <= IN_MEMORY_BYTES {
            return Ok(Box::new(Vec::with_capacity(
                usize::try_from(size_bytes).unwrap_or(0),
            )));
        }
        Ok(Box::new(ScratchFile {
            file: self.file()?,
            size: 0,
        }))
    }

    /// How much may lie here in nobody's way: memory that nothing needs holds it beside what is on
    /// the disk, which keeps most of its room. 0 where the system does not say.
    pub fn ample_bytes(&self) -> u64 {
        let free_bytes = self
            .folder
            .as_deref()
            .map_or_else(|| free_bytes(&std::env::temp_dir()), free_bytes);
        let memory = std::fs::read_to_string("/proc/meminfo")
            .ok()
            .and_then(|text| proc::parse_meminfo(&text));
        (free_bytes.unwrap_or(0) / 4).min(memory.map_or(0, |memory| memory.available_bytes / 2))
    }

    /// What is told where room cannot be had or filled.
    pub fn fault(&self, error: io::Error) -> FileError {
        FileError::new(
            "write to",
            self.folder.as_deref().unwrap_or(&std::env::temp_dir()),
            error,
        )
    }

    /// A file without a name: it is gone when it is closed.
    fn file(&self) -> io::Result<File> {
        match &self.folder {
            Some(folder) => tempfile::tempfile_in(folder),
            None => tempfile::tempfile(),
        }
    }
}

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

impl Scratch for ScratchFile {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.size += bytes.len() as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{ScratchSpace, scratch};

    #[test]
    fn much_goes_to_a_file_and_reads_back() {
        for size in [10, 1 << 30] {
            let mut room = scratch(size).unwrap();
            room.append(b"first ").unwrap();
            room.append(b"second").unwrap();
            let mut read = [0; 6];
            room.read_exact_at(&mut read, 6).unwrap();
            assert_eq!((&read, room.size_bytes()), (b"second", 12));
        }
    }

    #[test]
    fn a_folder_of_ones_own_is_tried_at_once_and_left_empty() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        std::fs::create_dir(folder.path().join("real")).unwrap();
        std::os::unix::fs::symlink("real", &link).unwrap();
        let mut room = ScratchSpace::new(Some(&link))
            .unwrap()
            .scratch(1 << 30)
            .unwrap();
        room.append(b"bytes").unwrap();
        assert_eq!(std::fs::read_dir(&link).unwrap().count(), 0);
        assert!(ScratchSpace::new(Some(&folder.path().join("none"))).is_err());
        assert_eq!(
            ScratchSpace::beside(&folder.path().join("none/of/these"))
                .unwrap()
                .folder
                .as_deref(),
            Some(folder.path())
        );
        assert_eq!(
            ScratchSpace::beside(std::path::Path::new("none"))
                .unwrap()
                .folder
                .as_deref(),
            Some(".".as_ref())
        );
    }
}
