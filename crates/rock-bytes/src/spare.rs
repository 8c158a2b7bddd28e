//! Buffers that are used again.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::pages::Pages;

/// Buffers that were used and wait for the next to use them.
///
/// To fill fresh memory costs as much time as to inflate into it: each page is zeroed when it is
/// first touched, and the system is asked for it. What lies here was touched before.
///
/// ```
/// use rock_bytes::Spare;
/// let spare = Spare::new(1 << 20);
/// spare.take(4096)[0] = 7;
/// assert_eq!(spare.take(100)[0], 7, "it is the same buffer, and holds what it held");
/// ```
#[derive(Debug)]
pub struct Spare {
    most_bytes: usize,
    buffers: Mutex<Vec<Pages>>,
}

/// A buffer of at least the length that was asked for, with any content; dropping it gives it back.
#[derive(Debug)]
pub struct Buffer<'s> {
    bytes: Pages,
    spare: &'s Spare,
}

impl Spare {
    /// Keeps so many bytes at most while nobody uses them.
    pub const fn new(most_bytes: usize) -> Self {
        Self {
            most_bytes,
            buffers: Mutex::new(Vec::new()),
        }
    }

    /// A buffer of at least this length: the smallest that waits, else a new one.
    pub fn take(&self, length: usize) -> Buffer<'_> {
        let mut buffers = self.buffers();
        // They lie by length.
        let at = buffers.partition_point(|buffer| buffer.len() < length);
        let waiting = (at < buffers.len()).then(|| buffers.remove(at));
        drop(buffers);
        Buffer {
            bytes: waiting.unwrap_or_else(|| Pages::new(length)),
            spare: self,
        }
    }

    fn give(&self, bytes: Pages) {
        let mut buffers = self.buffers();
        let at = buffers.partition_point(|buffer| buffer.len() < bytes.len());
        buffers.insert(at, bytes);
        while buffers.iter().map(|buffer| buffer.len()).sum::<usize>() > self.most_bytes {
            buffers.pop();
        }
    }

    fn buffers(&self) -> MutexGuard<'_, Vec<Pages>> {
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Deref for Buffer<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl DerefMut for Buffer<'_> {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}

impl Drop for Buffer<'_> {
    fn drop(&mut self) {
        self.spare.give(std::mem::take(&mut self.bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::Spare;

    #[test]
    fn the_smallest_that_is_long_enough_is_taken() {
        let spare = Spare::new(1000);
        let both = (spare.take(10), spare.take(100));
        drop(both);
        assert_eq!(
            (
                spare.take(5).len(),
                spare.take(11).len(),
                spare.take(101).len()
            ),
            (10, 100, 101)
        );
    }

    #[test]
    fn no_more_waits_than_was_said() {
        let spare = Spare::new(1000);
        let both = (spare.take(300), spare.take(800));
        drop(both);
        assert_eq!(
            spare
                .buffers()
                .iter()
                .map(|buffer| buffer.len())
                .collect::<Vec<_>>(),
            [300]
        );
    }
}
