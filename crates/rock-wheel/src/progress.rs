//! How far reading or writing a wheel has come.

use std::sync::atomic::{AtomicU64, Ordering};

/// How much of the bytes to read and write is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByteProgress {
    /// Bytes done.
    pub done_bytes: u64,
    /// All bytes; the same in every report.
    pub total_bytes: u64,
}

/// Is told of progress, in no particular order and from several threads. The last report of work
/// that ends well has all bytes done.
pub type ProgressCallback<'w> = dyn Fn(ByteProgress) + Sync + 'w;

/// Counts what is done.
pub struct ProgressMeter<'w> {
    done_bytes: AtomicU64,
    total_bytes: u64,
    watch: &'w ProgressCallback<'w>,
}

impl<'w> ProgressMeter<'w> {
    /// Nothing is done yet.
    pub fn new(total_bytes: u64, watch: &'w ProgressCallback<'w>) -> Self {
        Self {
            done_bytes: AtomicU64::new(0),
            total_bytes,
            watch,
        }
    }

    /// So much more is done.
    pub fn add(&self, bytes: u64) {
        if bytes > 0 {
            let done_bytes = self.done_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
            (self.watch)(ByteProgress {
                done_bytes,
                total_bytes: self.total_bytes,
            });
        }
    }
}

impl std::fmt::Debug for ProgressMeter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Meter({} of {})",
            self.done_bytes.load(Ordering::Relaxed),
            self.total_bytes
        )
    }
}
