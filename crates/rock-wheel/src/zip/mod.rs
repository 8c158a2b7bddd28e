//! Zip archives as wheels use them (APPNOTE.TXT 6.3.10): stored and deflated members, ZIP64, data
//! descriptors.
//!
//! Input: bytes behind [`ReadAt`](rock_bytes::ReadAt). Output: members and their contents, and new
//! archives on a [`ByteSink`](rock_bytes::ByteSink).
//!
//! **Invariant:** both headers of every member agree, no members overlap, and every name is safe to
//! unpack; opening any other archive is an error.

mod archive;
mod archive_rules;
mod block_source;
mod central;
mod content;
mod deflate;
mod encode;
mod entries;
mod eocd;
mod fields;
mod header;
mod large_member;
pub(super) mod limits;
mod local;
mod member;
mod member_reader;
mod member_view;
mod name;
mod splice;
mod time;
mod writer;

pub use archive::ZipArchive;
pub use archive_rules::{ArchiveRule, ArchiveViolation};
pub use content::{ChangedContent, MemberContent};
pub use entries::{WriteEvent, ZipEntry, write_entries};
pub use member::{CompressionMethod, ZipMember};
pub use member_reader::MemberReader;
pub use member_view::{ContentObserver, MemberView};
pub(super) use name::check_member_name;
pub use time::DosTime;
pub use writer::{MemberOptions, ZipWriter};

/// A 16-bit value that is in the zip64 EOCD instead (APPNOTE 4.4.1.4).
const FULL_16: u16 = u16::MAX;
/// A 32-bit size or offset that is in a zip64 structure instead (APPNOTE 4.4.1.4).
const FULL_32: u32 = u32::MAX;
/// ID of the zip64 extra field (APPNOTE 4.5.3).
const ZIP64_FIELD: u16 = 0x0001;
/// ID of the Info-ZIP Unicode Path extra field, a second name (APPNOTE 4.6.9).
const UNICODE_PATH_FIELD: u16 = 0x7075;
/// Flag bit 3: sizes and CRC-32 are in a data descriptor after the data (APPNOTE 4.4.4).
const FLAG_DESCRIPTOR: u16 = 1 << 3;
/// Flag bit 11: the name is UTF-8 (APPNOTE 4.4.4).
const FLAG_UTF8: u16 = 1 << 11;

#[cfg(test)]
mod tests;
