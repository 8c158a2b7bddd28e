//! A pool of reusable buffers.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::prefaulted_buffer::PrefaultedBuffer;

/// A pool of buffers that are reused instead of allocated.
///
/// The first write to fresh memory costs as much time as inflating into it, because the kernel
/// allocates and zeroes each page. Pages of a reused buffer are already present.
///
/// ```
/// use rock_bytes::BufferPool;
/// let spare = BufferPool::new(1 << 20);
/// spare.take(4096)[0] = 7;
/// assert_eq!(spare.take(100)[0], 7, "it is the same buffer, and holds what it held");
/// ```
#[derive(Debug)]
pub struct BufferPool {
    most_bytes: usize,
    buffers: Mutex<Vec<PrefaultedBuffer>>,
}

/// A buffer of at least the requested length with arbitrary content; returned to the pool when
/// dropped.
#[derive(Debug)]
pub struct PooledBuffer<'s> {
    bytes: PrefaultedBuffer,
    spare: &'s BufferPool,
}

impl BufferPool {
    /// Creates a pool that keeps at most `most_bytes` of unused buffers.
    pub const fn new(most_bytes: usize) -> Self {
        Self {
            most_bytes,
            buffers: Mutex::new(Vec::new()),
        }
    }

    /// Takes a buffer of at least this length: the smallest unused one, or a new one.
    pub fn take(&self, length: usize) -> PooledBuffer<'_> {
        let mut buffers = self.buffers();
        // Sorted by length.
        let at = buffers.partition_point(|buffer| buffer.len() < length);
        let waiting = (at < buffers.len()).then(|| buffers.remove(at));
        drop(buffers);
        PooledBuffer {
            bytes: waiting.unwrap_or_else(|| PrefaultedBuffer::new(length)),
            spare: self,
        }
    }

    fn give(&self, bytes: PrefaultedBuffer) {
        let mut buffers = self.buffers();
        let at = buffers.partition_point(|buffer| buffer.len() < bytes.len());
        buffers.insert(at, bytes);
        while buffers.iter().map(|buffer| buffer.len()).sum::<usize>() > self.most_bytes {
            buffers.pop();
        }
    }

    fn buffers(&self) -> MutexGuard<'_, Vec<PrefaultedBuffer>> {
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Deref for PooledBuffer<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl DerefMut for PooledBuffer<'_> {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}

impl Drop for PooledBuffer<'_> {
    fn drop(&mut self) {
        self.spare.give(std::mem::take(&mut self.bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::BufferPool;

    #[test]
    fn the_smallest_that_is_long_enough_is_taken() {
        let spare = BufferPool::new(1000);
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
        let spare = BufferPool::new(1000);
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
