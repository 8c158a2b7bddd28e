//! Sources of bytes: positional reads, slices of sources, and comparison of sources.

use std::any::Any;
use std::io;
use std::ops::Range;

use super::CHUNK_BYTES;

/// A source of bytes that can be read at any position, by several threads at once.
///
/// Its size and content do not change while it is read.
pub trait ReadAt: Sync {
    /// Returns the size in bytes.
    fn size_bytes(&self) -> u64;

    /// Announces a later read of a range, possibly after reads at higher offsets. A source that is
    /// backed by a stream keeps these bytes; others ignore it.
    fn announce_read(&self, _: Range<u64>) {}

    /// Reads bytes at an offset and returns their number, which is 0 only at or after the end, or
    /// if the buffer is empty.
    ///
    /// # Errors
    /// If the source cannot be read.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Returns the value itself, for a [`ByteSink`](super::ByteSink) that can copy faster from
    /// sources of its type.
    fn as_any(&self) -> Option<&dyn Any> {
        None
    }

    /// Fills the buffer with the bytes at an offset.
    ///
    /// # Errors
    /// If the source cannot be read, or ends before the buffer is full
    /// ([`io::ErrorKind::UnexpectedEof`]).
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

/// Calls `callback` with all bytes of a source, in chunks of at most [`CHUNK_BYTES`].
///
/// # Errors
/// If the source cannot be read.
pub fn for_each_chunk(source: &dyn ReadAt, mut callback: impl FnMut(&[u8])) -> io::Result<()> {
    let (size, mut chunk, mut offset) = (source.size_bytes(), vec![0; CHUNK_BYTES], 0);
    while offset < size {
        let length = chunk_length(size - offset);
        source.read_exact_at(&mut chunk[..length], offset)?;
        callback(&chunk[..length]);
        offset += length as u64;
    }
    Ok(())
}

fn chunk_length(remaining_bytes: u64) -> usize {
    usize::try_from(remaining_bytes).map_or(CHUNK_BYTES, |remaining| remaining.min(CHUNK_BYTES))
}

/// Returns whether two sources contain the same bytes.
///
/// # Errors
/// If one of them cannot be read.
pub fn has_same_content(left: &dyn ReadAt, right: &dyn ReadAt) -> io::Result<bool> {
    let (size, mut offset) = (left.size_bytes(), 0);
    if size != right.size_bytes() {
        return Ok(false);
    }
    let (mut left_chunk, mut right_chunk) = (vec![0; CHUNK_BYTES], vec![0; CHUNK_BYTES]);
    while offset < size {
        let length = chunk_length(size - offset);
        left.read_exact_at(&mut left_chunk[..length], offset)?;
        right.read_exact_at(&mut right_chunk[..length], offset)?;
        if left_chunk[..length] != right_chunk[..length] {
            return Ok(false);
        }
        offset += length as u64;
    }
    Ok(true)
}

impl ReadAt for [u8] {
    fn size_bytes(&self) -> u64 {
        self.len() as u64
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let remaining = usize::try_from(offset)
            .ok()
            .and_then(|start| self.get(start..))
            .unwrap_or_default();
        let length = remaining.len().min(buffer.len());
        buffer[..length].copy_from_slice(&remaining[..length]);
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

/// A sequential reader of a byte range of a source.
///
/// Reading fails with [`io::ErrorKind::UnexpectedEof`] if the source ends before the range does.
#[derive(Clone, Copy)]
pub struct RangeReader<'a> {
    source: &'a dyn ReadAt,
    position: u64,
    end: u64,
}

impl<'a> RangeReader<'a> {
    /// Creates a reader of `length` bytes from `offset`.
    pub fn new(source: &'a dyn ReadAt, offset: u64, length: u64) -> Self {
        Self {
            source,
            position: offset,
            end: offset.saturating_add(length),
        }
    }
}

impl io::Read for RangeReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let remaining = usize::try_from(self.end - self.position).unwrap_or(usize::MAX);
        let length = remaining.min(buffer.len());
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

/// A byte range of a source, as a source itself.
#[derive(Clone, Copy)]
pub struct SourceSlice<'a> {
    source: &'a dyn ReadAt,
    start: u64,
    size_bytes: u64,
}

impl<'a> SourceSlice<'a> {
    /// Creates a slice of `size_bytes` bytes from offset `start`.
    pub fn new(source: &'a dyn ReadAt, start: u64, size_bytes: u64) -> Self {
        Self {
            source,
            start,
            size_bytes,
        }
    }
}

impl ReadAt for SourceSlice<'_> {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let remaining = self.size_bytes.saturating_sub(offset);
        let length = buffer
            .len()
            .min(usize::try_from(remaining).unwrap_or(usize::MAX));
        self.source
            .read_at(&mut buffer[..length], self.start.saturating_add(offset))
    }
}

impl std::fmt::Debug for SourceSlice<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "SourceSlice({} bytes from {})",
            self.size_bytes, self.start
        )
    }
}

impl std::fmt::Debug for RangeReader<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RangeReader({}..{})", self.position, self.end)
    }
}

#[cfg(test)]
mod tests {
    use super::{CHUNK_BYTES, ReadAt as _, SourceSlice, for_each_chunk, has_same_content};

    #[test]
    fn slice_is_limited_to_its_range() {
        let whole = b"0123456789".to_vec();
        let slice = SourceSlice::new(&whole, 2, 5);
        let mut read = [0; 9];
        assert_eq!(
            (slice.read_at(&mut read, 1).unwrap(), &read[..4]),
            (4, b"3456".as_slice())
        );
        assert_eq!(
            (
                slice.size_bytes(),
                slice.read_at(&mut read, 5).unwrap(),
                slice.read_at(&mut read, 6).unwrap()
            ),
            (5, 0, 0)
        );
        assert!(slice.read_exact_at(&mut read[..2], 4).is_err());
    }

    #[test]
    fn same_content_means_the_same_size_and_bytes() {
        let one: Vec<u8> = (0..=250).cycle().take(2 * CHUNK_BYTES + 9).collect();
        let mut seen = Vec::new();
        for_each_chunk(&one, |chunk| seen.extend_from_slice(chunk)).unwrap();
        assert!(seen == one && has_same_content(&one, &seen).unwrap());
        *seen.last_mut().unwrap() ^= 1;
        assert!(!has_same_content(&one, &seen).unwrap());
        assert!(!has_same_content(&one, &one[1..].to_vec()).unwrap());
        assert!(has_same_content(&Vec::new(), &Vec::new()).unwrap());
    }
}
