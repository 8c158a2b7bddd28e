//! Making bytes in one thread while another one looks at them.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

/// How much is passed on at once: pieces stay in the cache of the processor between the two
/// threads. Inflating into pieces of 64 KiB is slower, and so is one of 1 MiB.
pub const PIECE_BYTES: usize = 256 << 10;
/// How many pieces there are, so that neither thread waits for a moment's delay of the other.
const PIECES: usize = 4;

/// Calls `make` here, and `see` in another thread with each piece that is passed on, in the same
/// order. All of them were seen when this returns. Where no thread can be started, `see` is called
/// in the calling thread.
///
/// ```
/// use rock_bytes::beside;
/// let mut sum = 0_u64;
/// beside(&mut |bytes| sum += bytes.iter().map(|byte| u64::from(*byte)).sum::<u64>(), |passage| {
///     passage.copy(&[1, 2]);
///     passage.copy(&[3]);
/// });
/// assert_eq!(sum, 6);
/// ```
pub fn beside<R>(see: &mut See<'_>, make: impl FnOnce(&mut Passage<'_>) -> R) -> R {
    let (full, pieces) = sync_channel::<(Vec<u8>, usize)>(PIECES);
    let (back, free) = channel();
    let seen_there = &mut *see;
    let made = std::thread::scope(move |scope| {
        match std::thread::Builder::new()
            .spawn_scoped(scope, move || look(seen_there, &pieces, &back))
        {
            // The thread ends when the passage is dropped.
            Ok(_) => Ok(make(&mut Passage {
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
        make(&mut Passage {
            full: None,
            free,
            spare: Vec::new(),
            made: 0,
            see: Some(see),
        })
    })
}

fn look(see: &mut See<'_>, pieces: &Receiver<(Vec<u8>, usize)>, back: &Sender<Vec<u8>>) {
    for (piece, length) in pieces {
        see(&piece[..length]);
        // Nobody takes it back when the last piece was made.
        let _ = back.send(piece);
    }
}

/// A function that is called with each piece.
type See<'s> = dyn FnMut(&[u8]) + Send + 's;

/// The way of pieces to the thread that looks at them.
pub struct Passage<'s> {
    full: Option<SyncSender<(Vec<u8>, usize)>>,
    free: Receiver<Vec<u8>>,
    spare: Vec<Vec<u8>>,
    made: usize,
    /// Called with each piece where there is no other thread.
    see: Option<&'s mut See<'s>>,
}

impl std::fmt::Debug for Passage<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Passage")
    }
}

impl Passage<'_> {
    /// A piece of [`PIECE_BYTES`] to fill, with whatever it held before; waits until one is free.
    pub fn piece(&mut self) -> Vec<u8> {
        if let Some(piece) = self.spare.pop().or_else(|| self.free.try_recv().ok()) {
            return piece;
        }
        if self.made < PIECES {
            self.made += 1;
            return vec![0; PIECE_BYTES];
        }
        // Without a thread that looks there is none to wait for; its panic shows where the threads
        // meet.
        self.free.recv().unwrap_or_else(|_| vec![0; PIECE_BYTES])
    }

    /// Passes on the first `length` bytes of a piece.
    pub fn pass(&mut self, piece: Vec<u8>, length: usize) {
        let length = length.min(piece.len());
        if let Some(see) = &mut self.see {
            see(&piece[..length]);
            self.spare.push(piece);
        } else if let Some(full) = &self.full {
            let _ = full.send((piece, length));
        }
    }

    /// Waits until all that was passed on was seen.
    pub fn settle(&mut self) {
        while self.spare.len() < self.made {
            // Without a thread that looks there is nothing to wait for.
            let Ok(piece) = self.free.recv() else { return };
            self.spare.push(piece);
        }
    }

    /// Passes on bytes that lie elsewhere.
    pub fn copy(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(PIECE_BYTES) {
            let mut piece = self.piece();
            piece[..part.len()].copy_from_slice(part);
            self.pass(piece, part.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::{PIECE_BYTES, Passage, beside};

    #[test]
    fn all_is_seen_once_in_order_and_before_the_end() {
        let content: Vec<u8> = (0..=250).cycle().take(9 * PIECE_BYTES + 7).collect();
        let mut seen = Vec::new();
        let answer = beside(&mut |bytes| seen.extend_from_slice(bytes), |passage| {
            for part in content.chunks(100_000) {
                passage.copy(part);
            }
            let mut piece = passage.piece();
            assert_eq!(piece.len(), PIECE_BYTES);
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
        beside(&mut count, |passage| {
            for round in 1..20 {
                passage.copy(&vec![0; PIECE_BYTES * 2 + 1]);
                passage.settle();
                assert_eq!(
                    seen.load(std::sync::atomic::Ordering::SeqCst),
                    round * (PIECE_BYTES * 2 + 1)
                );
            }
        });
    }

    #[test]
    fn pieces_are_seen_at_once_without_a_thread() {
        let (mut seen, (_, free)) = (Vec::new(), channel());
        let mut see = |bytes: &[u8]| seen.extend_from_slice(bytes);
        let mut passage = Passage {
            full: None,
            free,
            spare: Vec::new(),
            made: 0,
            see: Some(&mut see),
        };
        for round in 1..=9 {
            passage.copy(&vec![round; PIECE_BYTES + 1]);
            passage.settle();
        }
        assert_eq!(passage.made, 1, "the piece is used again");
        drop(passage);
        let expected: Vec<u8> = (1..=9)
            .flat_map(|round| vec![round; PIECE_BYTES + 1])
            .collect();
        assert!(seen == expected);
    }

    #[test]
    #[should_panic(expected = "a scoped thread panicked")]
    fn a_panic_of_the_one_that_looks_is_not_lost() {
        beside(&mut |_| panic!("no"), |passage| {
            (0..99).for_each(|_| passage.copy(b"x"));
        });
    }
}
