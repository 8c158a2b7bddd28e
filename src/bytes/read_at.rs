//! Where the bytes of a wheel come from.

use std::any::Any;
use std::io;
use std::ops::Range;

/// Bytes that can be read at any position, by several threads at once.
pub trait ReadAt: Sync {
    /// How many bytes there are.
    fn size_bytes(&self) -> u64;

    /// Says that bytes will be read, perhaps after some that lie behind them: what comes as a stream keeps them.
    fn will_read(&self, _: Range<u64>) {}

    /// Reads some bytes at a position; 0 only at the end.
    ///
    /// # Errors
    /// When the system cannot read.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;

    /// The value itself, for a [`Target`](super::Target) that knows a faster way to copy from its type.
    fn as_any(&self) -> Option<&dyn Any> {
        None
    }

    /// Fills a buffer from a position.
    ///
    /// # Errors
    /// When the system cannot read, or the bytes end before: [`io::ErrorKind::UnexpectedEof`].
    fn read_exact_at(&self, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
        while !buffer.is_empty() {
            match self.read_at(buffer, offset) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(read) => {
                    buffer = &mut buffer[read..];
                    offset += read as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl ReadAt for [u8] {
    fn size_bytes(&self) -> u64 {
        self.len() as u64
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let rest = usize::try_from(offset).ok().and_then(|at| self.get(at..)).unwrap_or_default();
        let length = rest.len().min(buffer.len());
        buffer[..length].copy_from_slice(&rest[..length]);
        Ok(length)
    }
}

impl ReadAt for Vec<u8> {
    fn size_bytes(&self) -> u64 {
        self.len() as u64
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.as_slice().read_at(buffer, offset)
    }
}

/// A stretch of a source, read from its start to its end.
#[derive(Clone, Copy)]
pub struct Section<'a> {
    source: &'a dyn ReadAt,
    position: u64,
    end: u64,
}

impl<'a> Section<'a> {
    /// The `length` bytes from `offset` on.
    pub fn new(source: &'a dyn ReadAt, offset: u64, length: u64) -> Self {
        Self { source, position: offset, end: offset.saturating_add(length) }
    }
}

impl io::Read for Section<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end - self.position).unwrap_or(usize::MAX);
        let length = left.min(buffer.len());
        if length == 0 {
            return Ok(0);
        }
        match self.source.read_at(&mut buffer[..length], self.position)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            read => {
                self.position += read as u64;
                Ok(read)
            }
        }
    }
}

impl std::fmt::Debug for Section<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Section({}..{})", self.position, self.end)
    }
}
