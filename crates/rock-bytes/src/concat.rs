//! Concatenated sources.

use std::io;

use super::ReadAt;

/// The concatenation of several sources, as a source itself.
#[derive(Default)]
pub struct Concat<'j> {
    /// The sources, each with its end offset in the concatenation.
    parts: Vec<(u64, Box<dyn ReadAt + 'j>)>,
}

impl<'j> Concat<'j> {
    /// Creates an empty concatenation.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a source. Its size must not change afterwards.
    pub fn push(&mut self, source: Box<dyn ReadAt + 'j>) {
        let length = source.size_bytes();
        if length > 0 {
            self.parts.push((self.size_bytes() + length, source));
        }
    }
}

impl ReadAt for Concat<'_> {
    fn size_bytes(&self) -> u64 {
        self.parts.last().map_or(0, |(end, _)| *end)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let index = self.parts.partition_point(|(end, _)| *end <= offset);
        let Some((end, source)) = self.parts.get(index) else {
            return Ok(0);
        };
        let start = index
            .checked_sub(1)
            .map_or(0, |previous| self.parts[previous].0);
        let length = buffer
            .len()
            .min(usize::try_from(end - offset).unwrap_or(usize::MAX));
        // A truncated source must not look like the end of the concatenation.
        match source.read_at(&mut buffer[..length], offset - start)? {
            0 if length > 0 => Err(io::ErrorKind::UnexpectedEof.into()),
            read => Ok(read),
        }
    }
}

impl std::fmt::Debug for Concat<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Concat({} parts, {} bytes)",
            self.parts.len(),
            self.size_bytes()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::{Concat, ReadAt};

    #[test]
    fn any_range_can_be_read() {
        let mut joined = Concat::new();
        for part in [b"one".as_slice(), b"", b"three", b"x"] {
            joined.push(Box::new(part.to_vec()));
        }
        let whole = b"onethreex";
        assert_eq!(joined.size_bytes(), 9);
        for start in 0..whole.len() {
            for end in start..whole.len() {
                let mut read = vec![0; end - start];
                joined.read_exact_at(&mut read, start as u64).unwrap();
                assert_eq!(read, whole[start..end]);
            }
        }
        assert_eq!(joined.read_at(&mut [0; 4], 9).unwrap(), 0);
    }

    /// A source that is shorter than its size.
    struct TruncatedSource;

    impl ReadAt for TruncatedSource {
        fn size_bytes(&self) -> u64 {
            5
        }
        fn read_at(&self, _: &mut [u8], _: u64) -> std::io::Result<usize> {
            Ok(0)
        }
    }

    #[test]
    fn truncated_part_is_an_error() {
        let mut joined = Concat::new();
        joined.push(Box::new(TruncatedSource));
        assert!(joined.read_at(&mut [0; 4], 0).is_err());
    }
}
