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
/// let pool = BufferPool::new(1 << 20);
/// pool.take(4096)[0] = 7;
/// assert_eq!(pool.take(100)[0], 7, "the buffer is reused with its content");
/// ```
#[derive(Debug)]
pub struct BufferPool {
    /// Maximum total size of unused buffers.
    max_unused_bytes: usize,
    /// Unused buffers, sorted by length.
    buffers: Mutex<Vec<PrefaultedBuffer>>,
}

/// A buffer of at least the requested length with arbitrary content; returned to the pool when
/// dropped.
#[derive(Debug)]
pub struct PooledBuffer<'p> {
    bytes: PrefaultedBuffer,
    pool: &'p BufferPool,
}

impl BufferPool {
    /// Creates a pool that keeps at most `max_unused_bytes` of unused buffers.
    pub const fn new(max_unused_bytes: usize) -> Self {
        Self {
            max_unused_bytes,
            buffers: Mutex::new(Vec::new()),
        }
    }

    /// Takes the smallest unused buffer of at least this length, or allocates one.
    pub fn take(&self, length: usize) -> PooledBuffer<'_> {
        let mut buffers = self.buffers();
        let index = buffers.partition_point(|buffer| buffer.len() < length);
        let unused = (index < buffers.len()).then(|| buffers.remove(index));
        drop(buffers);
        PooledBuffer {
            bytes: unused.unwrap_or_else(|| PrefaultedBuffer::new(length)),
            pool: self,
        }
    }

    /// Returns a buffer to the pool, and drops the largest ones beyond the limit.
    fn give_back(&self, bytes: PrefaultedBuffer) {
        let mut buffers = self.buffers();
        let index = buffers.partition_point(|buffer| buffer.len() < bytes.len());
        buffers.insert(index, bytes);
        while buffers.iter().map(|buffer| buffer.len()).sum::<usize>() > self.max_unused_bytes {
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
        self.pool.give_back(std::mem::take(&mut self.bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::BufferPool;

    #[test]
    fn smallest_sufficient_buffer_is_taken() {
        let pool = BufferPool::new(1000);
        let both = (pool.take(10), pool.take(100));
        drop(both);
        assert_eq!(
            (
                pool.take(5).len(),
                pool.take(11).len(),
                pool.take(101).len()
            ),
            (10, 100, 101)
        );
    }

    #[test]
    fn unused_buffers_beyond_the_limit_are_dropped() {
        let pool = BufferPool::new(1000);
        let both = (pool.take(300), pool.take(800));
        drop(both);
        assert_eq!(
            pool.buffers()
                .iter()
                .map(|buffer| buffer.len())
                .collect::<Vec<_>>(),
            [300]
        );
    }
}
