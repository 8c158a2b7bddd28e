//! Room for a member that must be read out of order.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;

use crate::bytes::{ReadAt, Scratch};

/// Up to here it is memory; more goes to a file without a name, in the folder for temporary files.
const IN_MEMORY_BYTES: u64 = 512 << 20;

/// Room for so many bytes.
///
/// # Errors
/// When no temporary file can be made.
pub fn scratch(size_bytes: u64) -> io::Result<Box<dyn Scratch>> {
    if size_bytes <= IN_MEMORY_BYTES {
        return Ok(Box::new(Vec::with_capacity(usize::try_from(size_bytes).unwrap_or(0))));
    }
    Ok(Box::new(Spilled { file: tempfile::tempfile()?, size: 0 }))
}

struct Spilled {
    file: File,
    size: u64,
}

impl ReadAt for Spilled {
    fn size_bytes(&self) -> u64 {
        self.size
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        FileExt::read_at(&self.file, buffer, offset)
    }
}

impl Scratch for Spilled {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.size += bytes.len() as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::scratch;

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
}
