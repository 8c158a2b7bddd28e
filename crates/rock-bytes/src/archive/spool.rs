//! Spools: streams that are stored for reading by position.

use std::cell::RefCell;
use std::io::{self, Write};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{ReadAt, Scratch};

/// The size of a separately compressed chunk in bytes. Smaller chunks compress worse, larger ones
/// cost more per read.
const CHUNK_BYTES: usize = 256 << 10;
/// The zstd level; fast, because a spool is read once or twice.
const LEVEL: i32 = -1;

/// A stored stream, in separately compressed chunks.
pub struct Spool {
    number: u64,
    room: Box<dyn Scratch>,
    /// Where each piece ends in the room.
    ends: Vec<u64>,
    size_bytes: u64,
}

/// A writer that stores a stream as a [`Spool`].
pub struct SpoolWriter<'p> {
    /// The bytes that may still be stored uncompressed.
    plain_bytes: &'p AtomicU64,
    compressor: zstd::bulk::Compressor<'static>,
    /// A piece that is not full yet, and what it is compressed to.
    piece: Vec<u8>,
    packed: Vec<u8>,
    folded: Spool,
}

impl<'p> SpoolWriter<'p> {
    /// Creates a writer into `room`. Chunks are stored uncompressed while `plain_bytes`, which writers
    /// share, lasts, and compressed from then on.
    ///
    /// # Errors
    /// If the compressor cannot be allocated.
    pub fn new(room: Box<dyn Scratch>, plain_bytes: &'p AtomicU64) -> io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Ok(Self {
            plain_bytes,
            compressor: zstd::bulk::Compressor::new(LEVEL)?,
            piece: Vec::with_capacity(CHUNK_BYTES),
            packed: vec![0; CHUNK_BYTES - 1],
            folded: Spool {
                number,
                room,
                ends: Vec::new(),
                size_bytes: 0,
            },
        })
    }

    /// Stores the rest and returns the spool.
    ///
    /// # Errors
    /// If the rest cannot be stored.
    pub fn finish(mut self) -> io::Result<Spool> {
        if !self.piece.is_empty() {
            self.write_chunk()?;
        }
        Ok(self.folded)
    }

    fn write_chunk(&mut self) -> io::Result<()> {
        let length = self.piece.len() as u64;
        let left = |left: u64| left.checked_sub(length);
        let is_plain = self
            .plain_bytes
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, left)
            .is_ok();
        let mut kept = self.piece.as_slice();
        if !is_plain {
            // What does not become shorter is kept as it is, too: there is no room for as much.
            let most = self.piece.len() - 1;
            if let Ok(length) = self
                .compressor
                .compress_to_buffer(&self.piece, &mut self.packed[..most])
            {
                kept = &self.packed[..length];
            }
        }
        self.folded.room.append(kept)?;
        self.folded.ends.push(self.folded.room.size_bytes());
        self.folded.size_bytes += self.piece.len() as u64;
        self.piece.clear();
        Ok(())
    }
}

impl Write for SpoolWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let length = bytes.len().min(CHUNK_BYTES - self.piece.len());
        self.piece.extend_from_slice(&bytes[..length]);
        if self.piece.len() == CHUNK_BYTES {
            self.write_chunk()?;
        }
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The chunk that a thread read last; most reads continue where the previous one ended.
struct CachedChunk {
    folded: u64,
    number: usize,
    piece: Vec<u8>,
    packed: Vec<u8>,
}

thread_local! {
    static CACHED_CHUNK: RefCell<CachedChunk> =
        const { RefCell::new(CachedChunk { folded: u64::MAX, number: 0, piece: Vec::new(), packed: Vec::new() }) };
}

impl Spool {
    /// Reads a chunk into a buffer of its length.
    fn read_chunk(&self, number: usize, packed: &mut Vec<u8>, piece: &mut [u8]) -> io::Result<()> {
        let kept = self.stored_range(number);
        packed.resize(
            usize::try_from(kept.end - kept.start).map_err(io::Error::other)?,
            0,
        );
        self.room.read_exact_at(packed, kept.start)?;
        match zstd::bulk::decompress_to_buffer(packed.as_slice(), piece)? {
            read if read == piece.len() => Ok(()),
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    /// Returns the range of a chunk in the storage.
    fn stored_range(&self, number: usize) -> Range<u64> {
        number.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[number]
    }

    /// Returns the uncompressed size of a chunk in bytes.
    fn chunk_bytes(&self, number: usize) -> usize {
        let left = self.size_bytes - (number * CHUNK_BYTES) as u64;
        CHUNK_BYTES.min(usize::try_from(left).unwrap_or(CHUNK_BYTES))
    }
}

impl ReadAt for Spool {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        if offset >= self.size_bytes || buffer.is_empty() {
            return Ok(0);
        }
        let number = usize::try_from(offset / CHUNK_BYTES as u64).map_err(io::Error::other)?;
        let at = usize::try_from(offset % CHUNK_BYTES as u64).map_err(io::Error::other)?;
        let (whole, kept) = (self.chunk_bytes(number), self.stored_range(number));
        if kept.end - kept.start == whole as u64 {
            let length = buffer.len().min(whole - at);
            return self
                .room
                .read_at(&mut buffer[..length], kept.start + at as u64);
        }
        CACHED_CHUNK.with_borrow_mut(|last| {
            if at == 0 && buffer.len() >= whole {
                return self
                    .read_chunk(number, &mut last.packed, &mut buffer[..whole])
                    .map(|()| whole);
            }
            if (last.folded, last.number) != (self.number, number) {
                last.folded = u64::MAX;
                last.piece.resize(whole, 0);
                self.read_chunk(number, &mut last.packed, &mut last.piece)?;
                (last.folded, last.number) = (self.number, number);
            }
            let length = buffer.len().min(whole - at);
            buffer[..length].copy_from_slice(&last.piece[at..at + length]);
            Ok(length)
        })
    }
}

impl std::fmt::Debug for Spool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Spool({} bytes in {})",
            self.size_bytes,
            self.room.size_bytes()
        )
    }
}

impl std::fmt::Debug for SpoolWriter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SpoolWriter({:?})", self.folded)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::sync::atomic::AtomicU64;

    use super::{CHUNK_BYTES, SpoolWriter};
    use crate::{ReadAt as _, in_memory};

    #[test]
    fn any_stretch_is_read_again_whatever_compresses_and_whoever_reads_beside() {
        let mut state = 1_u32;
        let noise = (0..CHUNK_BYTES).map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        });
        let whole: Vec<u8> = [0_u8, 1, 2]
            .into_iter()
            .cycle()
            .take(CHUNK_BYTES + 9)
            .chain(noise)
            .chain([7; 1000])
            .collect();
        let keep = |bytes: &[u8], plain_bytes: u64| {
            let plain_bytes = AtomicU64::new(plain_bytes);
            let mut folding = SpoolWriter::new(in_memory(0).unwrap(), &plain_bytes).unwrap();
            folding.write_all(bytes).unwrap();
            folding.finish().unwrap()
        };
        let (size, piece) = (whole.len() as u64, CHUNK_BYTES as u64);
        // Of the other there is room for the first piece and what is left behind the last whole
        // one.
        let (folded, other) = (keep(&whole, 0), keep(&whole[5..], 2 * piece - 1));
        assert_eq!((folded.size_bytes(), other.size_bytes()), (size, size - 5));
        assert!(folded.room.size_bytes() < size - piece / 2);
        assert!(other.room.size_bytes() >= piece && keep(&whole, size).room.size_bytes() == size);
        for start in (0..whole.len()).step_by(60_013) {
            for length in [1, 64, 5000, CHUNK_BYTES, 2 * CHUNK_BYTES + 1] {
                let end = whole.len().min(start + length);
                let mut read = vec![0; end - start];
                folded.read_exact_at(&mut read, start as u64).unwrap();
                assert!(read == whole[start..end], "{start} {length}");
                if start >= 5 {
                    other.read_exact_at(&mut read, start as u64 - 5).unwrap();
                    assert!(read == whole[start..end], "the other: {start} {length}");
                }
            }
        }
        assert_eq!(folded.read_at(&mut [0; 4], whole.len() as u64).unwrap(), 0);
    }
}
