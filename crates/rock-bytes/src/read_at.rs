//! Where the bytes of a wheel come from.

use std::any::Any;
use std::io;
use std::ops::Range;

use super::CHUNK_BYTES;

/// Bytes that can be read at any position, by several threads at once.
pub trait ReadAt: Sync {
    /// How many bytes there are.
    fn size_bytes(&self) -> u64;

    /// Says that bytes will be read, perhaps after some that lie behind them: what comes as a
    /// stream keeps them.
    fn will_read(&self, _: Range<u64>) {}

    /// Reads some bytes at a position; 0 only at the end.
    ///
    /// # Errors
    /// When the system cannot read.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;

    /// The value itself, for a [`Target`](super::Target) that knows a faster way to copy from its
    /// type.
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

/// Hands all bytes on, piece by piece.
///
/// # Errors
/// When they cannot be read.
pub fn for_each_chunk(source: &dyn ReadAt, mut see: impl FnMut(&[u8])) -> io::Result<()> {
    let (size, mut piece, mut at) = (source.size_bytes(), vec![0; CHUNK_BYTES], 0);
    while at < size {
        let step = CHUNK_BYTES.min(usize::try_from(size - at).unwrap_or(CHUNK_BYTES));
        source.read_exact_at(&mut piece[..step], at)?;
        see(&piece[..step]);
        at += step as u64;
    }
    Ok(())
}

/// Whether two sources hold the same bytes.
///
/// # Errors
/// When one cannot be read.
pub fn is_same(one: &dyn ReadAt, other: &dyn ReadAt) -> io::Result<bool> {
    let (size, mut at) = (one.size_bytes(), 0);
    if size != other.size_bytes() {
        return Ok(false);
    }
    let (mut here, mut there) = (vec![0; CHUNK_BYTES], vec![0; CHUNK_BYTES]);
    while at < size {
        let step = CHUNK_BYTES.min(usize::try_from(size - at).unwrap_or(CHUNK_BYTES));
        one.read_exact_at(&mut here[..step], at)?;
        other.read_exact_at(&mut there[..step], at)?;
        if here[..step] != there[..step] {
            return Ok(false);
        }
        at += step as u64;
    }
    Ok(true)
}

impl ReadAt for [u8] {
    fn size_bytes(&self) -> u64 {
        self.len() as u64
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let rest = usize::try_from(offset)
            .ok()
            .and_then(|at| self.get(at..))
            .unwrap_or_default();
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
        Self {
            source,
            position: offset,
            end: offset.saturating_add(length),
        }
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

/// A stretch of a source, read by position.
#[derive(Clone, Copy)]
pub struct Part<'a> {
    source: &'a dyn ReadAt,
    start: u64,
    size_bytes: u64,
}

impl<'a> Part<'a> {
    /// The `size_bytes` bytes from `start` on.
    pub fn new(source: &'a dyn ReadAt, start: u64, size_bytes: u64) -> Self {
        Self {
            source,
            start,
            size_bytes,
        }
    }
}

impl ReadAt for Part<'_> {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let left = self.size_bytes.saturating_sub(offset);
        let length = buffer
            .len()
            .min(usize::try_from(left).unwrap_or(usize::MAX));
        self.source
            .read_at(&mut buffer[..length], self.start.saturating_add(offset))
    }
}

impl std::fmt::Debug for Part<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Part({} bytes from {})", self.size_bytes, self.start)
    }
}

impl std::fmt::Debug for Section<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Section({}..{})", self.position, self.end)
    }
}

#[cfg(test)]
mod tests {
    use super::{CHUNK_BYTES, Part, ReadAt as _, for_each_chunk, is_same};

    #[test]
    fn a_part_ends_where_it_was_said_to_end() {
        let whole = b"0123456789".to_vec();
        let part = Part::new(&whole, 2, 5);
        let mut read = [0; 9];
        assert_eq!(
            (part.read_at(&mut read, 1).unwrap(), &read[..4]),
            (4, b"3456".as_slice())
        );
        assert_eq!(
            (
                part.size_bytes(),
                part.read_at(&mut read, 5).unwrap(),
                part.read_at(&mut read, 6).unwrap()
            ),
            (5, 0, 0)
        );
        assert!(part.read_exact_at(&mut read[..2], 4).is_err());
    }

    #[test]
    fn sources_are_the_same_when_every_byte_and_the_length_are() {
        let one: Vec<u8> = (0..=250).cycle().take(2 * CHUNK_BYTES + 9).collect();
        let mut seen = Vec::new();
        for_each_chunk(&one, |piece| seen.extend_from_slice(piece)).unwrap();
        assert!(seen == one && is_same(&one, &seen).unwrap());
        *seen.last_mut().unwrap() ^= 1;
        assert!(!is_same(&one, &seen).unwrap());
        assert!(!is_same(&one, &one[1..].to_vec()).unwrap());
        assert!(is_same(&Vec::new(), &Vec::new()).unwrap());
    }
}
