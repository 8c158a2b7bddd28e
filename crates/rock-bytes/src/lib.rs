//! Bytes that are read by position: files on disk, members that were unpacked, and stretches of
//! either.
//!
//! In: what `sys` opens, streams, or memory. Out: any stretch of it, to several threads at once.
//!
//! **Invariant:** nothing here holds a file as a whole; [`Scratch`] is room that a caller asked
//! for.

#[cfg(feature = "archive")]
pub mod archive;
mod budget;
mod buffer_pool;
mod concat;
mod prefaulted_buffer;
mod read_at;
mod scratch;
mod target;
mod tee;
mod text;
mod threads;

pub use budget::{BudgetShare, MemoryBudget};
pub use buffer_pool::{BufferPool, PooledBuffer};
pub use concat::Concat;
pub use read_at::{Part, ReadAt, Section, for_each_chunk, is_same};
pub use scratch::{Scratch, ScratchAllocator, ScratchFactory, in_memory};
pub use target::{Target, WriteAt};
pub use tee::{CHUNK_BYTES, ChunkSender, tee_to_thread};
pub use text::text_within;
pub use threads::{can_start_threads, start_threads};
