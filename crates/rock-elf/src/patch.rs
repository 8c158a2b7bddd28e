//! What an edit changes in a file, and the file as it is afterwards.

use std::io;
use std::ops::Range;

use rock_bytes::ReadAt;

/// Bytes that replace others, a point to cut at, and bytes that are appended. It holds none of the
/// rest of the file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Patch {
    overwrites: Vec<(u64, Vec<u8>)>,
    source_bytes: u64,
    kept_bytes: u64,
    tail_offset: u64,
    tail: Vec<u8>,
}

impl Patch {
    /// The patch that leaves a file of so many bytes as it is.
    pub fn unchanged(source_bytes: u64) -> Self {
        Self {
            source_bytes,
            kept_bytes: source_bytes,
            tail_offset: source_bytes,
            ..Self::default()
        }
    }

    /// Whether it leaves the file as it is.
    pub fn is_empty(&self) -> bool {
        self.overwrites.is_empty() && self.tail.is_empty() && self.kept_bytes == self.source_bytes
    }

    /// What is overwritten: offsets in the file with the bytes from there on, sorted, apart from
    /// each other, and all of them within [`kept_bytes`](Self::kept_bytes).
    pub fn overwrites(&self) -> &[(u64, Vec<u8>)] {
        &self.overwrites
    }

    /// How many bytes stay from the start of the file.
    pub fn kept_bytes(&self) -> u64 {
        self.kept_bytes
    }

    /// What is appended, with its offset. Between the kept bytes and it lie zeros.
    pub fn tail(&self) -> (u64, &[u8]) {
        (self.tail_offset, &self.tail)
    }

    /// How many bytes the file has afterwards.
    pub fn size_bytes(&self) -> u64 {
        if self.tail.is_empty() {
            self.kept_bytes
        } else {
            self.tail_offset + self.tail.len() as u64
        }
    }

    /// Overwrites those bytes from an offset on that differ.
    pub(super) fn replace(&mut self, offset: u64, old: &[u8], new: &[u8]) {
        let mut at = 0;
        while at < new.len() {
            let differs = |at: usize| old.get(at) != new.get(at);
            let end = (at..new.len())
                .find(|at| !differs(*at))
                .unwrap_or(new.len());
            if end > at {
                self.overwrites
                    .push((offset + at as u64, new[at..end].to_vec()));
            }
            at = (end..new.len())
                .find(|at| differs(*at))
                .unwrap_or(new.len());
        }
        self.overwrites.sort_by_key(|(offset, _)| *offset);
    }

    /// Whether the overwrites lie apart from each other, within what is kept. Those of a damaged
    /// file, the tables of which overlap, may not.
    pub(super) fn is_sound(&self) -> bool {
        let end = |(at, bytes): &(u64, Vec<u8>)| at.saturating_add(bytes.len() as u64);
        self.overwrites
            .windows(2)
            .all(|pair| end(&pair[0]) <= pair[1].0)
            && self
                .overwrites
                .last()
                .is_none_or(|last| end(last) <= self.kept_bytes)
            && self.kept_bytes <= self.source_bytes
    }

    /// Drops everything from an offset on.
    pub(super) fn cut(&mut self, kept_bytes: u64) {
        self.kept_bytes = kept_bytes;
        self.tail_offset = kept_bytes;
    }

    /// Appends bytes at an offset that is not before the end of what is kept.
    pub(super) fn append(&mut self, offset: u64, tail: Vec<u8>) {
        self.tail_offset = offset.max(self.kept_bytes);
        self.tail = tail;
    }
}

/// A file as a patch leaves it. It can be read, verified, written out and patched again.
#[derive(Clone, Copy)]
pub struct Patched<'a> {
    source: &'a dyn ReadAt,
    patch: &'a Patch,
}

impl<'a> Patched<'a> {
    /// The patch must have been made for this source.
    pub fn new(source: &'a dyn ReadAt, patch: &'a Patch) -> Self {
        Self { source, patch }
    }

    /// Fills a buffer that lies within the kept bytes, or a part of it from its start.
    fn read_kept(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let read = self.source.read_at(buffer, offset)?;
        let end = offset + read as u64;
        let overwrites = &self.patch.overwrites;
        let first = overwrites.partition_point(|(at, bytes)| at + bytes.len() as u64 <= offset);
        for (at, bytes) in overwrites[first..].iter().take_while(|(at, _)| *at < end) {
            let from = index((*at).max(offset) - at);
            let to = index((*at).max(offset) - offset);
            let length = (bytes.len() - from).min(read - to);
            buffer[to..to + length].copy_from_slice(&bytes[from..from + length]);
        }
        Ok(read)
    }
}

/// A distance within a buffer.
fn index(distance: u64) -> usize {
    usize::try_from(distance).unwrap_or(usize::MAX)
}

impl ReadAt for Patched<'_> {
    fn size_bytes(&self) -> u64 {
        self.patch.size_bytes()
    }

    /// What is kept of the file is read where it was; what is written over, too.
    fn will_read(&self, range: Range<u64>) {
        let end = range.end.min(self.patch.kept_bytes);
        if range.start < end {
            self.source.will_read(range.start..end);
        }
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let (patch, size) = (self.patch, self.size_bytes());
        if offset >= size {
            return Ok(0);
        }
        let end = [patch.kept_bytes, patch.tail_offset]
            .into_iter()
            .find(|end| offset < *end)
            .unwrap_or(size);
        let length = buffer
            .len()
            .min(usize::try_from(end - offset).unwrap_or(usize::MAX));
        let buffer = &mut buffer[..length];
        if offset < patch.kept_bytes {
            return self.read_kept(buffer, offset);
        }
        if offset < patch.tail_offset {
            buffer.fill(0);
            return Ok(length);
        }
        patch.tail.read_at(buffer, offset - patch.tail_offset)
    }
}

impl std::fmt::Debug for Patched<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Patched({} of {} bytes)",
            self.size_bytes(),
            self.source.size_bytes()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::{Patch, Patched};
    use rock_bytes::ReadAt;

    fn all(source: &dyn ReadAt) -> Vec<u8> {
        let mut bytes = vec![0; usize::try_from(source.size_bytes()).unwrap()];
        source.read_exact_at(&mut bytes, 0).unwrap();
        bytes
    }

    #[test]
    fn a_patched_file_reads_the_same_from_wherever_one_begins() {
        let source = b"0123456789".to_vec();
        let mut patch = Patch::unchanged(10);
        patch.replace(6, b"678", b"6xy");
        patch.replace(1, b"12", b"ab");
        patch.append(12, b"tail".to_vec());
        let patched = Patched::new(&source, &patch);
        let expected = b"0ab3456xy9\0\0tail";
        assert_eq!(
            (all(&patched).as_slice(), patched.size_bytes()),
            (expected.as_slice(), 16)
        );
        for start in 0..=16 {
            for length in 0..=16 - start {
                let mut buffer = vec![0; length];
                patched.read_exact_at(&mut buffer, start as u64).unwrap();
                assert_eq!(buffer, expected[start..start + length]);
            }
        }
        assert_eq!(patched.read_at(&mut [0; 4], 16).unwrap(), 0);
        assert_eq!(
            patch.overwrites(),
            [(1, b"ab".to_vec()), (7, b"xy".to_vec())]
        );
    }

    /// Keeps what was announced.
    struct Announced(Vec<u8>, std::sync::Mutex<Vec<std::ops::Range<u64>>>);

    impl ReadAt for Announced {
        fn size_bytes(&self) -> u64 {
            self.0.size_bytes()
        }

        fn will_read(&self, range: std::ops::Range<u64>) {
            self.1.lock().unwrap().push(range);
        }

        fn read_at(&self, buffer: &mut [u8], offset: u64) -> std::io::Result<usize> {
            self.0.read_at(buffer, offset)
        }
    }

    #[test]
    fn what_will_be_read_of_a_patched_file_is_announced_as_far_as_it_is_of_the_other() {
        let source = Announced(b"0123456789".to_vec(), std::sync::Mutex::default());
        let mut cut = Patch::unchanged(10);
        cut.cut(6);
        let view = Patched::new(&source, &cut);
        let mut more = Patch::unchanged(view.size_bytes());
        more.append(8, b"tail".to_vec());
        let twice = Patched::new(&view, &more);
        for range in [1..3, 5..9, 6..7, 8..12, 2..2] {
            twice.will_read(range);
        }
        assert_eq!(*source.1.lock().unwrap(), [1..3, 5..6]);
    }

    #[test]
    fn a_cut_file_ends_where_it_was_cut_and_can_be_patched_again() {
        let source = b"0123456789".to_vec();
        let mut cut = Patch::unchanged(10);
        assert!(cut.is_empty());
        cut.cut(4);
        assert!(!cut.is_empty());
        let view = Patched::new(&source, &cut);
        assert_eq!(all(&view), b"0123");
        let mut more = Patch::unchanged(view.size_bytes());
        more.append(4, b"end".to_vec());
        assert_eq!(all(&Patched::new(&view, &more)), b"0123end");
    }
}
