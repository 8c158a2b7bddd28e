//! Concatenation of sources.

use std::io;

use super::ReadAt;

/// The concatenation of sources, read by position.
#[derive(Default)]
pub struct Concat<'j> {
    /// Each with the position at which it ends.
    parts: Vec<(u64, Box<dyn ReadAt + 'j>)>,
}

impl<'j> Concat<'j> {
    /// Creates an empty concatenation.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a source.
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
        let number = self.parts.partition_point(|(end, _)| *end <= offset);
        let Some((end, source)) = self.parts.get(number) else {
            return Ok(0);
        };
        let start = number
            .checked_sub(1)
            .map_or(0, |before| self.parts[before].0);
        let length = buffer
            .len()
            .min(usize::try_from(end - offset).unwrap_or(usize::MAX));
        // A source that became shorter must not look like the end of all.
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
    fn any_stretch_of_the_whole_is_that_of_its_parts() {
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

    struct Shrunk;

    impl ReadAt for Shrunk {
        fn size_bytes(&self) -> u64 {
            5
        }
        fn read_at(&self, _: &mut [u8], _: u64) -> std::io::Result<usize> {
            Ok(0)
        }
    }

    #[test]
    fn a_part_that_became_shorter_is_a_fault_and_not_the_end() {
        let mut joined = Concat::new();
        joined.push(Box::new(Shrunk));
        assert!(joined.read_at(&mut [0; 4], 0).is_err());
    }
}
