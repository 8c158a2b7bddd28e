//! Progress of reading or writing wheels.

use std::sync::atomic::{AtomicU64, Ordering};

/// The number of bytes processed so far, and of all bytes to process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByteProgress {
    /// Bytes processed so far.
    pub done_bytes: u64,
    /// All bytes; the same in every report.
    pub total_bytes: u64,
}

/// A callback for progress. It is called from several threads, in no particular order; after
/// success, one call has had all bytes done.
pub type ProgressCallback<'w> = dyn Fn(ByteProgress) + Sync + 'w;

/// A counter of bytes processed, which reports each change.
pub struct ProgressMeter<'w> {
    done_bytes: AtomicU64,
    total_bytes: u64,
    callback: &'w ProgressCallback<'w>,
}

impl<'w> ProgressMeter<'w> {
    /// Creates a counter at zero.
    pub fn new(total_bytes: u64, callback: &'w ProgressCallback<'w>) -> Self {
        Self {
            done_bytes: AtomicU64::new(0),
            total_bytes,
            callback,
        }
    }

    /// Adds bytes processed, and reports the progress.
    pub fn add(&self, bytes: u64) {
        if bytes > 0 {
            let done_bytes = self.done_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
            (self.callback)(ByteProgress {
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
            "ProgressMeter({} of {})",
            self.done_bytes.load(Ordering::Relaxed),
            self.total_bytes
        )
    }
}
