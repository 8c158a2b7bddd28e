//! Reads large files and archives by position or as streams, within fixed memory limits.
//!
//! Input: sources of bytes behind [`ReadAt`] (memory, files of `rock-sys`, members of wheels), or
//! streams behind [`Read`](std::io::Read). Output: any byte range of a source, to several threads
//! at once, and tar, gzip, xz and zstd streams ([`archive`]).
//!
//! ```
//! use rock_bytes::{Concat, ReadAt, SourceSlice};
//!
//! let file = b"header and body".to_vec();
//! let mut joined = Concat::new();
//! joined.push(Box::new(SourceSlice::new(&file, 11, 4)));
//! joined.push(Box::new(b", footer".to_vec()));
//!
//! let mut bytes = vec![0; 6];
//! joined.read_exact_at(&mut bytes, 2)?;
//! assert_eq!(bytes, b"dy, fo");
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! **Invariant:** nothing here opens a path or reads a whole source into memory, except into
//! [`ScratchStorage`] that the caller allocates.

#[cfg(feature = "archive")]
pub mod archive;
mod budget;
mod buffer_pool;
mod concat;
mod prefaulted_buffer;
mod read_at;
mod scratch;
mod sink;
mod tee;
mod text;
mod threads;

pub use budget::{BudgetShare, MemoryBudget};
pub use buffer_pool::{BufferPool, PooledBuffer};
pub use concat::Concat;
pub use read_at::{RangeReader, ReadAt, SourceSlice, for_each_chunk, has_same_content};
pub use scratch::{ScratchAllocator, ScratchFactory, ScratchStorage, in_memory};
pub use sink::{ByteSink, WriteAt};
pub use tee::{CHUNK_BYTES, ChunkSender, tee_to_thread};
pub use text::{LimitedTextError, read_to_string_limited};
pub use threads::{can_start_threads, on_threads, start_threads};
