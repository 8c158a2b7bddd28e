//! Patches: the bytes that an edit overwrites in a file or appends to it.

use std::io;
use std::ops::Range;

use rock_bytes::ReadAt;

/// Overwritten bytes, a size to truncate to, and appended bytes; unchanged bytes are not stored.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ElfPatch {
    overwrites: Vec<(u64, Vec<u8>)>,
    source_bytes: u64,
    kept_bytes: u64,
    tail_offset: u64,
    tail: Vec<u8>,
}

impl ElfPatch {
    /// Creates an empty patch for a file of `source_bytes` bytes.
    pub fn unchanged(source_bytes: u64) -> Self {
        Self {
            source_bytes,
            kept_bytes: source_bytes,
            tail_offset: source_bytes,
            ..Self::default()
        }
    }

    /// Returns `true` if the patch changes nothing.
    pub fn is_empty(&self) -> bool {
        self.overwrites.is_empty() && self.tail.is_empty() && self.kept_bytes == self.source_bytes
    }

    /// Returns the overwritten bytes with their file offsets: sorted, disjoint, and before
    /// [`kept_bytes`](Self::kept_bytes).
    pub fn overwrites(&self) -> &[(u64, Vec<u8>)] {
        &self.overwrites
    }

    /// Returns the number of bytes that are kept from the start of the file.
    pub fn kept_bytes(&self) -> u64 {
        self.kept_bytes
    }

    /// Returns the file offset of the appended bytes, and the bytes. A gap after the kept bytes is
    /// filled with zeros.
    pub fn tail(&self) -> (u64, &[u8]) {
        (self.tail_offset, &self.tail)
    }

    /// Returns the size of the patched file, in bytes.
    pub fn size_bytes(&self) -> u64 {
        if self.tail.is_empty() {
            self.kept_bytes
        } else {
            self.tail_offset + self.tail.len() as u64
        }
    }

    /// Overwrites the bytes that differ between `old`, at `offset`, and `new`.
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

    /// Returns `true` if the overwrites are disjoint and within the kept bytes. They may not be if
    /// the tables of a malformed file overlap.
    pub(super) fn is_consistent(&self) -> bool {
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

    /// Drops everything after the first `kept_bytes` bytes.
    pub(super) fn truncate(&mut self, kept_bytes: u64) {
        self.kept_bytes = kept_bytes;
        self.tail_offset = kept_bytes;
    }

    /// Appends bytes at an offset, or after the kept bytes if these end later.
    pub(super) fn append(&mut self, offset: u64, tail: Vec<u8>) {
        self.tail_offset = offset.max(self.kept_bytes);
        self.tail = tail;
    }
}

/// A view of a file with a patch applied.
///
/// It implements [`ReadAt`], so it can be read, verified, written and edited again.
#[derive(Clone, Copy)]
pub struct PatchedFile<'a> {
    source: &'a dyn ReadAt,
    patch: &'a ElfPatch,
}

impl<'a> PatchedFile<'a> {
    /// Creates a view of `source`. The patch must have been computed from it.
    pub fn new(source: &'a dyn ReadAt, patch: &'a ElfPatch) -> Self {
        Self { source, patch }
    }

    /// Reads from the kept bytes, with overwrites applied; may fill only the start of the buffer.
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

/// Converts a distance within a buffer.
fn index(distance: u64) -> usize {
    usize::try_from(distance).unwrap_or(usize::MAX)
}

impl ReadAt for PatchedFile<'_> {
    fn size_bytes(&self) -> u64 {
        self.patch.size_bytes()
    }

    /// Announces the part of the range that is kept of the source.
    fn announce_read(&self, range: Range<u64>) {
        let end = range.end.min(self.patch.kept_bytes);
        if range.start < end {
            self.source.announce_read(range.start..end);
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

impl std::fmt::Debug for PatchedFile<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "PatchedFile({} of {} bytes)",
            self.size_bytes(),
            self.source.size_bytes()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::{ElfPatch, PatchedFile};
    use rock_bytes::ReadAt;

    fn all(source: &dyn ReadAt) -> Vec<u8> {
        let mut bytes = vec![0; usize::try_from(source.size_bytes()).unwrap()];
        source.read_exact_at(&mut bytes, 0).unwrap();
        bytes
    }

    #[test]
    fn a_patched_file_reads_the_same_from_wherever_one_begins() {
        let source = b"0123456789".to_vec();
        let mut patch = ElfPatch::unchanged(10);
        patch.replace(6, b"678", b"6xy");
        patch.replace(1, b"12", b"ab");
        patch.append(12, b"tail".to_vec());
        let patched = PatchedFile::new(&source, &patch);
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

    /// A source that records announced ranges.
    struct ReadAheadRecorder(Vec<u8>, std::sync::Mutex<Vec<std::ops::Range<u64>>>);

    impl ReadAt for ReadAheadRecorder {
        fn size_bytes(&self) -> u64 {
            self.0.size_bytes()
        }

        fn announce_read(&self, range: std::ops::Range<u64>) {
            self.1.lock().unwrap().push(range);
        }

        fn read_at(&self, buffer: &mut [u8], offset: u64) -> std::io::Result<usize> {
            self.0.read_at(buffer, offset)
        }
    }

    #[test]
    fn what_will_be_read_of_a_patched_file_is_announced_as_far_as_it_is_of_the_other() {
        let source = ReadAheadRecorder(b"0123456789".to_vec(), std::sync::Mutex::default());
        let mut cut = ElfPatch::unchanged(10);
        cut.truncate(6);
        let view = PatchedFile::new(&source, &cut);
        let mut more = ElfPatch::unchanged(view.size_bytes());
        more.append(8, b"tail".to_vec());
        let twice = PatchedFile::new(&view, &more);
        for range in [1..3, 5..9, 6..7, 8..12, 2..2] {
            twice.announce_read(range);
        }
        assert_eq!(*source.1.lock().unwrap(), [1..3, 5..6]);
    }

    #[test]
    fn a_cut_file_ends_where_it_was_cut_and_can_be_patched_again() {
        let source = b"0123456789".to_vec();
        let mut cut = ElfPatch::unchanged(10);
        assert!(cut.is_empty());
        cut.truncate(4);
        assert!(!cut.is_empty());
        let view = PatchedFile::new(&source, &cut);
        assert_eq!(all(&view), b"0123");
        let mut more = ElfPatch::unchanged(view.size_bytes());
        more.append(4, b"end".to_vec());
        assert_eq!(all(&PatchedFile::new(&view, &more)), b"0123end");
    }
}
