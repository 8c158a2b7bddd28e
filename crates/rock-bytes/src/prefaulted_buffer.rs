//! Buffers in huge pages.

use std::ops::{Deref, DerefMut};

use memmap2::{Advice, MmapMut, MmapOptions};

/// The size of a huge page on x86-64, and on ARM64 with pages of 4 KiB (Linux,
/// Documentation/admin-guide/mm/transhuge.rst).
const HUGE_PAGE_BYTES: usize = 2 << 20;
/// The minimum number of used bytes that justifies a huge page.
const MIN_USED_BYTES: usize = HUGE_PAGE_BYTES / 4;

/// A zeroed buffer in transparent huge pages, if the kernel provides them.
///
/// The first write to each page of fresh memory is a page fault. With small pages, these faults
/// took a quarter of the time to inflate a member. Huge pages cause fewer faults.
#[derive(Debug)]
pub(super) enum PrefaultedBuffer {
    /// A buffer too small for huge pages, or a fallback.
    Heap(Vec<u8>),
    /// An anonymous mapping.
    Mapped {
        map: MmapMut,
        /// The offset of the first huge page in the mapping.
        begin: usize,
        /// The length of the buffer in bytes.
        length: usize,
    },
}

impl PrefaultedBuffer {
    /// Allocates a zeroed buffer.
    pub(super) fn new(length: usize) -> Self {
        Self::mapped(length).unwrap_or_else(|| Self::Heap(vec![0; length]))
    }

    /// Maps a buffer, or returns `None` if it is too small or cannot be mapped.
    fn mapped(length: usize) -> Option<Self> {
        let huge_bytes = length.checked_add(HUGE_PAGE_BYTES - MIN_USED_BYTES)? / HUGE_PAGE_BYTES
            * HUGE_PAGE_BYTES;
        if huge_bytes == 0 {
            return None;
        }
        // Huge pages are aligned to their size. The bytes before the first one are never touched
        // and take no memory.
        let map = MmapOptions::new()
            .len(length.max(huge_bytes).checked_add(HUGE_PAGE_BYTES)?)
            .map_anon()
            .ok()?;
        let begin = map.as_ptr().align_offset(HUGE_PAGE_BYTES);
        if begin > HUGE_PAGE_BYTES {
            return None;
        }
        // Fails if huge pages are disabled; the mapping works without them.
        let _ = map.advise_range(Advice::HugePage, begin, huge_bytes);
        Some(Self::Mapped { map, begin, length })
    }
}

impl Default for PrefaultedBuffer {
    fn default() -> Self {
        Self::Heap(Vec::new())
    }
}

impl Deref for PrefaultedBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Heap(bytes) => bytes,
            Self::Mapped { map, begin, length } => &map[*begin..*begin + *length],
        }
    }
}

impl DerefMut for PrefaultedBuffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Heap(bytes) => bytes,
            Self::Mapped { map, begin, length } => &mut map[*begin..*begin + *length],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{HUGE_PAGE_BYTES, MIN_USED_BYTES, PrefaultedBuffer};

    #[test]
    fn buffers_of_any_length_are_zeroed_and_writable() {
        for length in [
            0,
            1,
            MIN_USED_BYTES - 1,
            MIN_USED_BYTES,
            HUGE_PAGE_BYTES - 1,
            HUGE_PAGE_BYTES,
            5_000_001,
        ] {
            let mut buffer = PrefaultedBuffer::new(length);
            assert_eq!(
                (buffer.len(), buffer.iter().find(|byte| **byte != 0)),
                (length, None)
            );
            buffer.fill(7);
        }
    }

    #[test]
    fn huge_pages_are_aligned() {
        let PrefaultedBuffer::Mapped { map, begin, .. } =
            PrefaultedBuffer::new(3 * HUGE_PAGE_BYTES)
        else {
            panic!("not mapped")
        };
        assert_eq!((map.as_ptr() as usize + begin) % HUGE_PAGE_BYTES, 0);
    }
}
