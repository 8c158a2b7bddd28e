//! Tar archives, gzip, xz and zstd streams, and spools.
//!
//! Input: members whose content is behind [`ReadAt`](crate::ReadAt), or an archive as a stream.
//! Output: the archive as a source ([`TarBuilder`]), or its members one by one
//! ([`for_each_member`]). A [`Spool`] stores a decompressed stream so that it can be read by
//! position.
//!
//! **Invariant:** the bytes of a written archive depend only on its members, not on the machine or
//! the number of threads. A truncated stream is an error. Reading takes no more memory than
//! [`limits`] allow, whatever the archive contains.

mod compression;
mod error;
mod extended;
mod gzip;
pub mod limits;
mod members;
mod spool;
mod tar;
mod xz;
mod xz_blocks;

pub use compression::ArchiveCompression;
pub use error::{ArchiveError, ArchiveLimit, TarFormatError, is_damage};
pub use gzip::{GzipError, gunzip};
pub use members::{ParsedMember, ParsedMemberKind, for_each_member};
pub use spool::{Spool, SpoolWriter};
pub use tar::{TarBuilder, TarMember, TarMemberKind};
pub use xz::compress_xz;
