//! Memory whose pages are there before they are used.

use std::ops::{Deref, DerefMut};

use memmap2::{Advice, MmapMut, MmapOptions};

/// A large page of x86-64 and of ARM64 with pages of 4 KiB (Linux:
/// Documentation/admin-guide/mm/transhuge.rst).
const LARGE_BYTES: usize = 2 << 20;
/// How much of a large page must be used for one to be taken.
const LEAST_BYTES: usize = LARGE_BYTES / 4;

/// So many zeroed bytes, all of which will be written.
///
/// The first write to a page of fresh memory stops at the system, which zeroes that one page: of
/// the time to inflate at once, a quarter went there. Here the system is asked for large pages.
/// Where it has none, the bytes are the same and come as slowly as ever.
#[derive(Debug)]
pub(super) enum Pages {
    Heap(Vec<u8>),
    Mapped {
        map: MmapMut,
        begin: usize,
        length: usize,
    },
}

impl Pages {
    pub(super) fn new(length: usize) -> Self {
        Self::mapped(length).unwrap_or_else(|| Self::Heap(vec![0; length]))
    }

    fn mapped(length: usize) -> Option<Self> {
        let large = length.checked_add(LARGE_BYTES - LEAST_BYTES)? / LARGE_BYTES * LARGE_BYTES;
        if large == 0 {
            return None;
        }
        // Large pages lie at multiples of their size. What is before the first is never touched,
        // and takes no memory.
        let map = MmapOptions::new()
            .len(length.max(large).checked_add(LARGE_BYTES)?)
            .map_anon()
            .ok()?;
        let begin = map.as_ptr().align_offset(LARGE_BYTES);
        if begin > LARGE_BYTES {
            return None;
        }
        // Large pages can be switched off, which changes nothing but time.
        let _ = map.advise_range(Advice::HugePage, begin, large);
        Some(Self::Mapped { map, begin, length })
    }
}

impl Default for Pages {
    fn default() -> Self {
        Self::Heap(Vec::new())
    }
}

impl Deref for Pages {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Heap(bytes) => bytes,
            Self::Mapped { map, begin, length } => &map[*begin..*begin + *length],
        }
    }
}

impl DerefMut for Pages {
    fn deref_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Heap(bytes) => bytes,
            Self::Mapped { map, begin, length } => &mut map[*begin..*begin + *length],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LARGE_BYTES, LEAST_BYTES, Pages};

    #[test]
    fn each_length_is_had_zeroed_and_can_be_written_to_its_ends() {
        for length in [
            0,
            1,
            LEAST_BYTES - 1,
            LEAST_BYTES,
            LARGE_BYTES - 1,
            LARGE_BYTES,
            5_000_001,
        ] {
            let mut pages = Pages::new(length);
            assert_eq!(
                (pages.len(), pages.iter().find(|byte| **byte != 0)),
                (length, None)
            );
            pages.fill(7);
        }
    }

    #[test]
    fn large_pages_begin_where_they_can() {
        let Pages::Mapped { map, begin, .. } = Pages::new(3 * LARGE_BYTES) else {
            panic!("it is mapped")
        };
        assert_eq!((map.as_ptr() as usize + begin) % LARGE_BYTES, 0);
    }
}
