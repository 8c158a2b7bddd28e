//! Buffers in huge pages.

use std::ops::{Deref, DerefMut};

use memmap2::{Advice, MmapMut, MmapOptions};

/// A large page of x86-64 and of ARM64 with pages of 4 KiB (Linux:
/// Documentation/admin-guide/mm/transhuge.rst).
const HUGE_PAGE_BYTES: usize = 2 << 20;
/// The minimum of bytes for which a huge page is used.
const MIN_USED_BYTES: usize = HUGE_PAGE_BYTES / 4;

/// A zeroed buffer in transparent huge pages, if the kernel provides them.
///
/// The first write to each page of fresh memory is a page fault, which took a quarter of the time to
/// inflate a member at once. Huge pages need fewer faults.
#[derive(Debug)]
pub(super) enum PrefaultedBuffer {
    Heap(Vec<u8>),
    Mapped {
        map: MmapMut,
        begin: usize,
        length: usize,
    },
}

impl PrefaultedBuffer {
    pub(super) fn new(length: usize) -> Self {
        Self::mapped(length).unwrap_or_else(|| Self::Heap(vec![0; length]))
    }

    fn mapped(length: usize) -> Option<Self> {
        let large = length.checked_add(HUGE_PAGE_BYTES - MIN_USED_BYTES)? / HUGE_PAGE_BYTES
            * HUGE_PAGE_BYTES;
        if large == 0 {
            return None;
        }
        // Large pages lie at multiples of their size. What is before the first is never touched,
        // and takes no memory.
        let map = MmapOptions::new()
            .len(length.max(large).checked_add(HUGE_PAGE_BYTES)?)
            .map_anon()
            .ok()?;
        let begin = map.as_ptr().align_offset(HUGE_PAGE_BYTES);
        if begin > HUGE_PAGE_BYTES {
            return None;
        }
        // Large pages can be switched off, which changes nothing but time.
        let _ = map.advise_range(Advice::HugePage, begin, large);
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
    fn each_length_is_had_zeroed_and_can_be_written_to_its_ends() {
        for length in [
            0,
            1,
            MIN_USED_BYTES - 1,
            MIN_USED_BYTES,
            HUGE_PAGE_BYTES - 1,
            HUGE_PAGE_BYTES,
            5_000_001,
        ] {
            let mut pages = PrefaultedBuffer::new(length);
            assert_eq!(
                (pages.len(), pages.iter().find(|byte| **byte != 0)),
                (length, None)
            );
            pages.fill(7);
        }
    }

    #[test]
    fn large_pages_begin_where_they_can() {
        let PrefaultedBuffer::Mapped { map, begin, .. } =
            PrefaultedBuffer::new(3 * HUGE_PAGE_BYTES)
        else {
            panic!("it is mapped")
        };
        assert_eq!((map.as_ptr() as usize + begin) % HUGE_PAGE_BYTES, 0);
    }
}
