//! Passing bytes to a second thread in chunks.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

/// The size of a chunk in bytes. Chunks stay in the processor's cache between the two threads;
/// inflating into chunks of 64 KiB or 1 MiB is slower.
pub const CHUNK_BYTES: usize = 256 << 10;
/// The number of chunks, so that neither thread waits for a short delay of the other.
const CHUNK_COUNT: usize = 4;

/// Calls `make` in this thread, and `see` in another one with each chunk that `make` sends, in
/// order. Returns after `see` has received all chunks. If no thread can be started, calls `see` in
/// this thread.
///
/// ```
/// use rock_bytes::tee_to_thread;
/// let mut sum = 0_u64;
/// tee_to_thread(&mut |bytes| sum += bytes.iter().map(|byte| u64::from(*byte)).sum::<u64>(), |passage| {
///     passage.copy(&[1, 2]);
///     passage.copy(&[3]);
/// });
/// assert_eq!(sum, 6);
/// ```
pub fn tee_to_thread<R>(
    see: &mut ChunkCallback<'_>,
    make: impl FnOnce(&mut ChunkSender<'_>) -> R,
) -> R {
    let (full, pieces) = sync_channel::<(Vec<u8>, usize)>(CHUNK_COUNT);
    let (back, free) = channel();
    let seen_there = &mut *see;
    let made = std::thread::scope(move |scope| {
        match std::thread::Builder::new()
            .spawn_scoped(scope, move || receive_chunks(seen_there, &pieces, &back))
        {
            // The thread ends when the passage is dropped.
            Ok(_) => Ok(make(&mut ChunkSender {
                full: Some(full),
                free,
                spare: Vec::new(),
                made: 0,
                see: None,
            })),
            Err(_) => Err(make),
        }
    });
    made.unwrap_or_else(|make| {
        let (_, free) = channel();
        make(&mut ChunkSender {
            full: None,
            free,
            spare: Vec::new(),
            made: 0,
            see: Some(see),
        })
    })
}

fn receive_chunks(
    see: &mut ChunkCallback<'_>,
    pieces: &Receiver<(Vec<u8>, usize)>,
    back: &Sender<Vec<u8>>,
) {
    for (piece, length) in pieces {
        see(&piece[..length]);
        // Nobody takes it back when the last piece was made.
        let _ = back.send(piece);
    }
}

/// A function that receives chunks.
type ChunkCallback<'s> = dyn FnMut(&[u8]) + Send + 's;

/// A sender of chunks to the receiving thread.
pub struct ChunkSender<'s> {
    full: Option<SyncSender<(Vec<u8>, usize)>>,
    free: Receiver<Vec<u8>>,
    spare: Vec<Vec<u8>>,
    made: usize,
    /// Called with each piece where there is no other thread.
    see: Option<&'s mut ChunkCallback<'s>>,
}

impl std::fmt::Debug for ChunkSender<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ChunkSender")
    }
}

impl ChunkSender<'_> {
    /// Returns a chunk of [`CHUNK_BYTES`] with arbitrary content; waits until one is free.
    pub fn piece(&mut self) -> Vec<u8> {
        if let Some(piece) = self.spare.pop().or_else(|| self.free.try_recv().ok()) {
            return piece;
        }
        if self.made < CHUNK_COUNT {
            self.made += 1;
            return vec![0; CHUNK_BYTES];
        }
        // Without a thread that looks there is none to wait for; its panic shows where the threads
        // meet.
        self.free.recv().unwrap_or_else(|_| vec![0; CHUNK_BYTES])
    }

    /// Sends the first `length` bytes of a chunk.
    pub fn pass(&mut self, piece: Vec<u8>, length: usize) {
        let length = length.min(piece.len());
        if let Some(see) = &mut self.see {
            see(&piece[..length]);
            self.spare.push(piece);
        } else if let Some(full) = &self.full {
            let _ = full.send((piece, length));
        }
    }

    /// Waits until all sent chunks were received.
    pub fn settle(&mut self) {
        while self.spare.len() < self.made {
            // Without a thread that looks there is nothing to wait for.
            let Ok(piece) = self.free.recv() else { return };
            self.spare.push(piece);
        }
    }

    /// Copies bytes into chunks and sends them.
    pub fn copy(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(CHUNK_BYTES) {
            let mut piece = self.piece();
            piece[..part.len()].copy_from_slice(part);
            self.pass(piece, part.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::{CHUNK_BYTES, ChunkSender, tee_to_thread};

    #[test]
    fn all_is_seen_once_in_order_and_before_the_end() {
        let content: Vec<u8> = (0..=250).cycle().take(9 * CHUNK_BYTES + 7).collect();
        let mut seen = Vec::new();
        let answer = tee_to_thread(&mut |bytes| seen.extend_from_slice(bytes), |passage| {
            for part in content.chunks(100_000) {
                passage.copy(part);
            }
            let mut piece = passage.piece();
            assert_eq!(piece.len(), CHUNK_BYTES);
            piece[..3].copy_from_slice(b"end");
            passage.pass(piece, 3);
            7
        });
        assert!(
            answer == 7 && seen[..content.len()] == content && seen[content.len()..] == *b"end"
        );
    }

    #[test]
    fn what_was_passed_on_was_seen_once_it_has_settled() {
        let seen = std::sync::atomic::AtomicUsize::new(0);
        let mut count = |bytes: &[u8]| {
            seen.fetch_add(bytes.len(), std::sync::atomic::Ordering::SeqCst);
        };
        tee_to_thread(&mut count, |passage| {
            for round in 1..20 {
                passage.copy(&vec![0; CHUNK_BYTES * 2 + 1]);
                passage.settle();
                assert_eq!(
                    seen.load(std::sync::atomic::Ordering::SeqCst),
                    round * (CHUNK_BYTES * 2 + 1)
                );
            }
        });
    }

    #[test]
    fn pieces_are_seen_at_once_without_a_thread() {
        let (mut seen, (_, free)) = (Vec::new(), channel());
        let mut see = |bytes: &[u8]| seen.extend_from_slice(bytes);
        let mut passage = ChunkSender {
            full: None,
            free,
            spare: Vec::new(),
            made: 0,
            see: Some(&mut see),
        };
        for round in 1..=9 {
            passage.copy(&vec![round; CHUNK_BYTES + 1]);
            passage.settle();
        }
        assert_eq!(passage.made, 1, "the piece is used again");
        drop(passage);
        let expected: Vec<u8> = (1..=9)
            .flat_map(|round| vec![round; CHUNK_BYTES + 1])
            .collect();
        assert!(seen == expected);
    }

    #[test]
    #[should_panic(expected = "a scoped thread panicked")]
    fn a_panic_of_the_one_that_looks_is_not_lost() {
        tee_to_thread(&mut |_| panic!("no"), |passage| {
            (0..99).for_each(|_| passage.copy(b"x"));
        });
    }
}
