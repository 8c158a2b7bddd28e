//! Passing bytes to a second thread in chunks.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

/// The size of a chunk in bytes. Chunks stay in the processor's cache between the two threads;
/// inflating into chunks of 64 KiB or 1 MiB is slower.
pub const CHUNK_BYTES: usize = 256 << 10;
/// Number of chunks in circulation. Several chunks let one thread continue during a short delay of
/// the other.
const CHUNK_COUNT: usize = 4;

/// A function that receives chunks.
type ChunkCallback<'s> = dyn FnMut(&[u8]) + Send + 's;

/// A chunk, and the number of its bytes that are used.
type FilledChunk = (Vec<u8>, usize);

/// Calls `produce` in this thread, and `consume` in another one with each chunk that `produce`
/// sends, in order. Returns after `consume` has received all chunks. If no thread can be started,
/// calls `consume` in this thread.
///
/// ```
/// use rock_bytes::tee_to_thread;
///
/// let mut sum = 0_u64;
/// let mut add = |bytes: &[u8]| sum += bytes.iter().map(|byte| u64::from(*byte)).sum::<u64>();
/// tee_to_thread(&mut add, |sender| {
///     sender.send_copy(&[1, 2]);
///     sender.send_copy(&[3]);
/// });
/// assert_eq!(sum, 6);
/// ```
pub fn tee_to_thread<R>(
    consume: &mut ChunkCallback<'_>,
    produce: impl FnOnce(&mut ChunkSender<'_>) -> R,
) -> R {
    let (filled, received) = sync_channel::<FilledChunk>(CHUNK_COUNT);
    let (consumed, free) = channel();
    let thread_consume = &mut *consume;
    let result = std::thread::scope(move |scope| {
        let receive = move || receive_chunks(thread_consume, &received, &consumed);
        match std::thread::Builder::new().spawn_scoped(scope, receive) {
            // The thread ends when the sender is dropped.
            Ok(_) => Ok(produce(&mut ChunkSender {
                filled: Some(filled),
                free,
                unused: Vec::new(),
                allocated: 0,
                callback: None,
            })),
            Err(_) => Err(produce),
        }
    });
    result.unwrap_or_else(|produce| {
        let (_, free) = channel();
        produce(&mut ChunkSender {
            filled: None,
            free,
            unused: Vec::new(),
            allocated: 0,
            callback: Some(consume),
        })
    })
}

/// Calls `consume` with each received chunk and returns the chunk.
fn receive_chunks(
    consume: &mut ChunkCallback<'_>,
    received: &Receiver<FilledChunk>,
    consumed: &Sender<Vec<u8>>,
) {
    for (chunk, length) in received {
        consume(&chunk[..length]);
        // Fails if the sender is already dropped and needs no more chunks.
        let _ = consumed.send(chunk);
    }
}

/// A sender of chunks to the receiving thread.
pub struct ChunkSender<'s> {
    /// `None` if there is no receiving thread.
    filled: Option<SyncSender<FilledChunk>>,
    /// Chunks that the receiving thread has returned.
    free: Receiver<Vec<u8>>,
    unused: Vec<Vec<u8>>,
    /// Number of chunks allocated so far.
    allocated: usize,
    /// Receives the chunks if there is no receiving thread.
    callback: Option<&'s mut ChunkCallback<'s>>,
}

impl std::fmt::Debug for ChunkSender<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ChunkSender")
    }
}

impl ChunkSender<'_> {
    /// Returns a chunk of [`CHUNK_BYTES`] with arbitrary content; waits until one is free.
    pub fn take_chunk(&mut self) -> Vec<u8> {
        if let Some(chunk) = self.unused.pop().or_else(|| self.free.try_recv().ok()) {
            return chunk;
        }
        if self.allocated < CHUNK_COUNT {
            self.allocated += 1;
            return vec![0; CHUNK_BYTES];
        }
        // Fails if the receiving thread panicked; the panic is propagated when it is joined.
        self.free.recv().unwrap_or_else(|_| vec![0; CHUNK_BYTES])
    }

    /// Sends the first `length` bytes of a chunk.
    pub fn send(&mut self, chunk: Vec<u8>, length: usize) {
        let length = length.min(chunk.len());
        if let Some(callback) = &mut self.callback {
            callback(&chunk[..length]);
            self.unused.push(chunk);
        } else if let Some(filled) = &self.filled {
            let _ = filled.send((chunk, length));
        }
    }

    /// Waits until the receiver has processed all sent chunks.
    pub fn wait_until_received(&mut self) {
        while self.unused.len() < self.allocated {
            // Fails if the receiving thread panicked.
            let Ok(chunk) = self.free.recv() else { return };
            self.unused.push(chunk);
        }
    }

    /// Copies bytes into chunks and sends them.
    pub fn send_copy(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(CHUNK_BYTES) {
            let mut chunk = self.take_chunk();
            chunk[..part.len()].copy_from_slice(part);
            self.send(chunk, part.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::{CHUNK_BYTES, ChunkSender, tee_to_thread};

    #[test]
    fn chunks_are_received_once_and_in_order() {
        let content: Vec<u8> = (0..=250).cycle().take(9 * CHUNK_BYTES + 7).collect();
        let mut seen = Vec::new();
        let result = tee_to_thread(&mut |bytes| seen.extend_from_slice(bytes), |sender| {
            for part in content.chunks(100_000) {
                sender.send_copy(part);
            }
            let mut chunk = sender.take_chunk();
            assert_eq!(chunk.len(), CHUNK_BYTES);
            chunk[..3].copy_from_slice(b"end");
            sender.send(chunk, 3);
            7
        });
        assert!(
            result == 7 && seen[..content.len()] == content && seen[content.len()..] == *b"end"
        );
    }

    #[test]
    fn waiting_covers_all_sent_chunks() {
        let seen = std::sync::atomic::AtomicUsize::new(0);
        let mut count = |bytes: &[u8]| {
            seen.fetch_add(bytes.len(), std::sync::atomic::Ordering::SeqCst);
        };
        tee_to_thread(&mut count, |sender| {
            for round in 1..20 {
                sender.send_copy(&vec![0; CHUNK_BYTES * 2 + 1]);
                sender.wait_until_received();
                assert_eq!(
                    seen.load(std::sync::atomic::Ordering::SeqCst),
                    round * (CHUNK_BYTES * 2 + 1)
                );
            }
        });
    }

    #[test]
    fn without_a_thread_chunks_are_received_at_once() {
        let (mut seen, (_, free)) = (Vec::new(), channel());
        let mut receive = |bytes: &[u8]| seen.extend_from_slice(bytes);
        let mut sender = ChunkSender {
            filled: None,
            free,
            unused: Vec::new(),
            allocated: 0,
            callback: Some(&mut receive),
        };
        for round in 1..=9 {
            sender.send_copy(&vec![round; CHUNK_BYTES + 1]);
            sender.wait_until_received();
        }
        assert_eq!(sender.allocated, 1, "the chunk is reused");
        drop(sender);
        let expected: Vec<u8> = (1..=9)
            .flat_map(|round| vec![round; CHUNK_BYTES + 1])
            .collect();
        assert!(seen == expected);
    }

    #[test]
    #[should_panic(expected = "a scoped thread panicked")]
    fn panic_of_the_receiver_is_propagated() {
        tee_to_thread(&mut |_| panic!("no"), |sender| {
            (0..99).for_each(|_| sender.send_copy(b"x"));
        });
    }
}
