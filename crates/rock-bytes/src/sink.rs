//! Where the bytes of a wheel go.

use std::io::{self, Write};
use std::sync::Arc;

use crate::ReadAt;

/// How much is copied at once where the system cannot do it.
const COPY_BYTES: usize = 256 << 10;

/// A stream that a wheel is written to, from its first byte to its last.
pub trait Target: Write {
    /// Copies a stretch of a source. Files do this inside the system.
    ///
    /// # Errors
    /// When the source ends before, or one of the two fails.
    fn copy_from(&mut self, source: &dyn ReadAt, offset: u64, length: u64) -> io::Result<()> {
        let mut buffer = vec![0; COPY_BYTES.min(usize::try_from(length).unwrap_or(COPY_BYTES))];
        let (mut position, mut left) = (offset, length);
        while left > 0 {
            let step = buffer
                .len()
                .min(usize::try_from(left).unwrap_or(usize::MAX));
            source.read_exact_at(&mut buffer[..step], position)?;
            self.write_all(&buffer[..step])?;
            position += step as u64;
            left -= step as u64;
        }
        Ok(())
    }

    /// Writes over bytes that were written `back_bytes` ago; what is written next goes behind the
    /// end as before.
    ///
    /// # Errors
    /// When not so much was written yet, or the system cannot write.
    fn rewrite(&mut self, back_bytes: u64, bytes: &[u8]) -> io::Result<()>;

    /// A way to write behind what was written so far, for others beside this one; none where there
    /// is none.
    ///
    /// # Errors
    /// When the system cannot give one.
    fn ahead(&mut self) -> io::Result<Option<Arc<dyn WriteAt>>> {
        Ok(None)
    }

    /// Goes on behind bytes that were written [ahead](Self::ahead).
    ///
    /// # Errors
    /// When the target has no such way, or the system cannot write.
    fn skip(&mut self, _length: u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Writes at positions, from several threads.
pub trait WriteAt: Send + Sync {
    /// Writes all bytes, so far behind where the target was when it gave this.
    ///
    /// # Errors
    /// When the system cannot write.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;
}

impl Target for Vec<u8> {
    fn rewrite(&mut self, back_bytes: u64, bytes: &[u8]) -> io::Result<()> {
        let start = usize::try_from(back_bytes)
            .ok()
            .and_then(|back| self.len().checked_sub(back));
        let place = start.and_then(|start| self.get_mut(start..start.checked_add(bytes.len())?));
        place
            .ok_or(io::ErrorKind::InvalidInput)?
            .copy_from_slice(bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Target;

    #[test]
    fn a_stretch_is_copied_and_one_beyond_the_end_is_an_error() {
        let source: Vec<u8> = (0..=255).cycle().take(700_000).collect();
        let mut target = Vec::new();
        target.copy_from(&source, 3, 600_000).unwrap();
        assert_eq!(target, source[3..600_003]);
        assert!(target.copy_from(&source, 699_999, 2).is_err());
    }

    #[test]
    fn bytes_are_written_over_where_some_are_and_nowhere_else() {
        let mut target = b"head: ?? tail".to_vec();
        target.rewrite(7, b"ok").unwrap();
        assert_eq!(target, b"head: ok tail");
        for (back, bytes) in [(14, b"x".as_slice()), (1, b"xx"), (u64::MAX, b"")] {
            assert!(target.rewrite(back, bytes).is_err(), "{back}");
        }
    }
}
