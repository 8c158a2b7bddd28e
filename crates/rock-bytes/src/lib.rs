//! Bytes that are read by position: files on disk, members that were unpacked, and stretches of
//! either.
//!
//! In: what `sys` opens, streams, or memory. Out: any stretch of it, to several threads at once.
//!
//! **Invariant:** nothing here holds a file as a whole; [`Scratch`] is room that a caller asked
//! for.

pub mod archive;
mod beside;
mod budget;
mod joined;
mod pages;
mod read_at;
mod scratch;
mod spare;
mod target;
mod text;
mod threads;

pub use beside::{PIECE_BYTES, Passage, beside};
pub use budget::{Budget, Share};
pub use joined::Joined;
pub use read_at::{Part, ReadAt, Section, each_piece, is_same};
pub use scratch::{MakeScratch, Rooms, Scratch, in_memory};
pub use spare::{Buffer, Spare};
pub use target::{Target, WriteAhead};
pub use text::text_within;
pub use threads::{can_start_threads, start_threads};
