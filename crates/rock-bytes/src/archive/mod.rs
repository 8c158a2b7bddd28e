//! Archives: tar, of members that lie elsewhere and are not copied, or read as a stream; gzip, xz
//! and zstd around it; and streams kept so that any stretch of them can be read again.
//!
//! In: what the members are, and their bytes behind [`ReadAt`](crate::ReadAt); or an archive
//! as a stream. Out: the archive behind the same; or what its members are.
//!
//! **Invariant:** the same members give the same bytes, whoever makes them and whenever; and a
//! stream that ends too early is an error, never a shorter archive. Whatever an archive holds,
//! reading it takes no more memory than [`limits`] says.

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

pub use compression::Compression;
pub use error::{ArchiveError, ArchiveLimit, is_damage};
pub use gzip::gunzip;
pub use members::{ExtractedKind, ExtractedMember, each_member};
pub use spool::{Spool, SpoolWriter};
pub use tar::{Member, MemberKind, Tar};
pub use xz::xz;
