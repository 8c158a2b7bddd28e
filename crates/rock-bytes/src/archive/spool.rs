//! Spools: streams that are stored to be read by position.

use std::cell::RefCell;
use std::io::{self, Write};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{ReadAt, ScratchStorage};

/// The size of a separately compressed chunk in bytes. Smaller chunks compress worse, larger ones
/// cost more per read.
const CHUNK_BYTES: usize = 256 << 10;
/// The zstd level; fast, because a spool is read once or twice.
const LEVEL: i32 = -1;

/// A stored stream, in separately compressed chunks.
pub struct Spool {
    /// Identifies the spool in [`CACHED_CHUNK`].
    id: u64,
    storage: Box<dyn ScratchStorage>,
    /// The end offset of each chunk in the storage.
    chunk_ends: Vec<u64>,
    /// The uncompressed size.
    size_bytes: u64,
}

/// A writer that stores a stream as a [`Spool`].
pub struct SpoolWriter<'p> {
    /// Number of bytes that may still be stored uncompressed.
    plain_bytes: &'p AtomicU64,
    compressor: zstd::bulk::Compressor<'static>,
    /// The chunk that is being filled.
    chunk: Vec<u8>,
    /// A buffer for the compressed chunk.
    compressed: Vec<u8>,
    spool: Spool,
}

impl<'p> SpoolWriter<'p> {
    /// Creates a writer into `storage`. Chunks are stored uncompressed until `plain_bytes`, which
    /// several writers may share, is used up.
    ///
    /// # Errors
    /// If the compressor cannot be allocated.
    pub fn new(storage: Box<dyn ScratchStorage>, plain_bytes: &'p AtomicU64) -> io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Ok(Self {
            plain_bytes,
            compressor: zstd::bulk::Compressor::new(LEVEL)?,
            chunk: Vec::with_capacity(CHUNK_BYTES),
            compressed: vec![0; CHUNK_BYTES - 1],
            spool: Spool {
                id,
                storage,
                chunk_ends: Vec::new(),
                size_bytes: 0,
            },
        })
    }

    /// Stores the last chunk and returns the spool.
    ///
    /// # Errors
    /// If the chunk cannot be stored.
    pub fn finish(mut self) -> io::Result<Spool> {
        if !self.chunk.is_empty() {
            self.write_chunk()?;
        }
        Ok(self.spool)
    }

    fn write_chunk(&mut self) -> io::Result<()> {
        let length = self.chunk.len() as u64;
        let is_plain = self
            .plain_bytes
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |remaining| {
                remaining.checked_sub(length)
            })
            .is_ok();
        let mut stored = self.chunk.as_slice();
        if !is_plain {
            // Fails if the chunk does not become smaller. It is then stored uncompressed.
            let max_length = self.chunk.len() - 1;
            if let Ok(length) = self
                .compressor
                .compress_to_buffer(&self.chunk, &mut self.compressed[..max_length])
            {
                stored = &self.compressed[..length];
            }
        }
        self.spool.storage.append(stored)?;
        self.spool.chunk_ends.push(self.spool.storage.size_bytes());
        self.spool.size_bytes += length;
        self.chunk.clear();
        Ok(())
    }
}

impl Write for SpoolWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let length = bytes.len().min(CHUNK_BYTES - self.chunk.len());
        self.chunk.extend_from_slice(&bytes[..length]);
        if self.chunk.len() == CHUNK_BYTES {
            self.write_chunk()?;
        }
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The chunk that a thread read last. Most reads continue where the previous one ended.
struct CachedChunk {
    spool_id: u64,
    index: usize,
    chunk: Vec<u8>,
    /// A buffer for the compressed chunk.
    compressed: Vec<u8>,
}

thread_local! {
    static CACHED_CHUNK: RefCell<CachedChunk> = const {
        RefCell::new(CachedChunk {
            spool_id: u64::MAX,
            index: 0,
            chunk: Vec::new(),
            compressed: Vec::new(),
        })
    };
}

impl Spool {
    /// Decompresses a chunk into `chunk`, which has its uncompressed size.
    fn read_chunk(
        &self,
        index: usize,
        compressed: &mut Vec<u8>,
        chunk: &mut [u8],
    ) -> io::Result<()> {
        let stored = self.stored_range(index);
        compressed.resize(
            usize::try_from(stored.end - stored.start).map_err(io::Error::other)?,
            0,
        );
        self.storage.read_exact_at(compressed, stored.start)?;
        match zstd::bulk::decompress_to_buffer(compressed.as_slice(), chunk)? {
            read if read == chunk.len() => Ok(()),
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    /// Returns the range of a chunk in the storage.
    fn stored_range(&self, index: usize) -> Range<u64> {
        let start = index
            .checked_sub(1)
            .map_or(0, |previous| self.chunk_ends[previous]);
        start..self.chunk_ends[index]
    }

    /// Returns the uncompressed size of a chunk in bytes.
    fn chunk_bytes(&self, index: usize) -> usize {
        let remaining = self.size_bytes - (index * CHUNK_BYTES) as u64;
        CHUNK_BYTES.min(usize::try_from(remaining).unwrap_or(CHUNK_BYTES))
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
        let index = usize::try_from(offset / CHUNK_BYTES as u64).map_err(io::Error::other)?;
        let start = usize::try_from(offset % CHUNK_BYTES as u64).map_err(io::Error::other)?;
        let (chunk_bytes, stored) = (self.chunk_bytes(index), self.stored_range(index));
        let length = buffer.len().min(chunk_bytes - start);
        if stored.end - stored.start == chunk_bytes as u64 {
            return self
                .storage
                .read_at(&mut buffer[..length], stored.start + start as u64);
        }
        CACHED_CHUNK.with_borrow_mut(|cached| {
            if length == chunk_bytes {
                self.read_chunk(index, &mut cached.compressed, &mut buffer[..length])?;
                return Ok(length);
            }
            if (cached.spool_id, cached.index) != (self.id, index) {
                // Invalid until the chunk is read completely.
                cached.spool_id = u64::MAX;
                cached.chunk.resize(chunk_bytes, 0);
                self.read_chunk(index, &mut cached.compressed, &mut cached.chunk)?;
                (cached.spool_id, cached.index) = (self.id, index);
            }
            buffer[..length].copy_from_slice(&cached.chunk[start..start + length]);
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
            self.storage.size_bytes()
        )
    }
}

impl std::fmt::Debug for SpoolWriter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SpoolWriter({:?})", self.spool)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::sync::atomic::AtomicU64;

    use super::{CHUNK_BYTES, SpoolWriter};
    use crate::{ReadAt as _, in_memory};

    #[test]
    fn any_range_of_interleaved_spools_can_be_read() {
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
        let spool = |bytes: &[u8], plain_bytes: u64| {
            let plain_bytes = AtomicU64::new(plain_bytes);
            let mut writer = SpoolWriter::new(in_memory(0).unwrap(), &plain_bytes).unwrap();
            writer.write_all(bytes).unwrap();
            writer.finish().unwrap()
        };
        let (size, chunk) = (whole.len() as u64, CHUNK_BYTES as u64);
        // `other` may store the first chunk and the last, shorter one uncompressed.
        let (first, other) = (spool(&whole, 0), spool(&whole[5..], 2 * chunk - 1));
        assert_eq!((first.size_bytes(), other.size_bytes()), (size, size - 5));
        assert!(first.storage.size_bytes() < size - chunk / 2);
        assert!(other.storage.size_bytes() >= chunk);
        assert_eq!(spool(&whole, size).storage.size_bytes(), size);
        for start in (0..whole.len()).step_by(60_013) {
            for length in [1, 64, 5000, CHUNK_BYTES, 2 * CHUNK_BYTES + 1] {
                let end = whole.len().min(start + length);
                let mut read = vec![0; end - start];
                first.read_exact_at(&mut read, start as u64).unwrap();
                assert!(read == whole[start..end], "{start} {length}");
                if start >= 5 {
                    other.read_exact_at(&mut read, start as u64 - 5).unwrap();
                    assert!(read == whole[start..end], "the other: {start} {length}");
                }
            }
        }
        assert_eq!(first.read_at(&mut [0; 4], whole.len() as u64).unwrap(), 0);
    }
}
