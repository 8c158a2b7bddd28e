//! Room for bytes that come as a stream and are read by position afterwards.

use std::io;

use super::ReadAt;

/// Room that grows at its end: memory, or a temporary file where there is much.
pub trait Scratch: ReadAt + Send {
    /// Adds bytes at the end.
    ///
    /// # Errors
    /// When there is no room.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;
}

impl Scratch for Vec<u8> {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.try_reserve(bytes.len()).map_err(|_| io::ErrorKind::OutOfMemory)?;
        self.extend_from_slice(bytes);
        Ok(())
    }
}

/// Makes room for so many bytes; `u64::MAX` asks for room that is not in memory.
pub type MakeScratch<'a> = dyn Fn(u64) -> io::Result<Box<dyn Scratch>> + Sync + 'a;

/// Room in memory, whatever the size.
///
/// # Errors
/// Never; room that is not there shows when it is filled.
pub fn in_memory(_: u64) -> io::Result<Box<dyn Scratch>> {
    Ok(Box::<Vec<u8>>::default())
}
