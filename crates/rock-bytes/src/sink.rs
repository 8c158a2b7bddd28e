//! Sinks: sequential output that can be patched, and written ahead by several threads.

use std::io::{self, Write};
use std::sync::Arc;

use crate::ReadAt;

/// The buffer size in bytes of [`ByteSink::copy_from`].
const COPY_BYTES: usize = 256 << 10;

/// A sequential output, such as a file, with the operations that writing an archive needs.
pub trait ByteSink: Write {
    /// Appends `length` bytes of a source from `offset`. Sinks that are files let the kernel copy.
    ///
    /// # Errors
    /// If the range exceeds the source, or reading or writing fails.
    fn copy_from(&mut self, source: &dyn ReadAt, offset: u64, length: u64) -> io::Result<()> {
        let mut buffer = vec![0; COPY_BYTES.min(usize::try_from(length).unwrap_or(COPY_BYTES))];
        let (mut position, mut remaining) = (offset, length);
        while remaining > 0 {
            let step = buffer
                .len()
                .min(usize::try_from(remaining).unwrap_or(usize::MAX));
            source.read_exact_at(&mut buffer[..step], position)?;
            self.write_all(&buffer[..step])?;
            position += step as u64;
            remaining -= step as u64;
        }
        Ok(())
    }

    /// Overwrites bytes that start `back_bytes` before the end. Later writes append, as before.
    ///
    /// # Errors
    /// If the range is not part of what was written, or writing fails.
    fn overwrite(&mut self, back_bytes: u64, bytes: &[u8]) -> io::Result<()>;

    /// Returns a writer that other threads can use to write beyond the current end, or `None` if
    /// the sink does not support it. [`advance`](Self::advance) appends the written bytes.
    ///
    /// # Errors
    /// If the writer cannot be created.
    fn parallel_writer(&mut self) -> io::Result<Option<Arc<dyn WriteAt>>> {
        Ok(None)
    }

    /// Moves the end forward by `length` bytes, which a [parallel writer](Self::parallel_writer)
    /// has written.
    ///
    /// # Errors
    /// If the sink has no parallel writer ([`io::ErrorKind::Unsupported`]), or writing fails.
    fn advance(&mut self, _length: u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// A positional writer for several threads.
pub trait WriteAt: Send + Sync {
    /// Writes all bytes at `offset`, relative to the end of the sink when the writer was created.
    ///
    /// # Errors
    /// If writing fails.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;
}

impl ByteSink for Vec<u8> {
    fn overwrite(&mut self, back_bytes: u64, bytes: &[u8]) -> io::Result<()> {
        let start = usize::try_from(back_bytes)
            .ok()
            .and_then(|back| self.len().checked_sub(back));
        let range = start.and_then(|start| self.get_mut(start..start.checked_add(bytes.len())?));
        range
            .ok_or(io::ErrorKind::InvalidInput)?
            .copy_from_slice(bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::ByteSink;

    #[test]
    fn copied_range_must_be_inside_of_the_source() {
        let source: Vec<u8> = (0..=255).cycle().take(700_000).collect();
        let mut sink = Vec::new();
        sink.copy_from(&source, 3, 600_000).unwrap();
        assert_eq!(sink, source[3..600_003]);
        assert!(sink.copy_from(&source, 699_999, 2).is_err());
    }

    #[test]
    fn overwritten_range_must_be_written_already() {
        let mut sink = b"head: ?? tail".to_vec();
        sink.overwrite(7, b"ok").unwrap();
        assert_eq!(sink, b"head: ok tail");
        for (back, bytes) in [(14, b"x".as_slice()), (1, b"xx"), (u64::MAX, b"")] {
            assert!(sink.overwrite(back, bytes).is_err(), "{back}");
        }
    }
}
