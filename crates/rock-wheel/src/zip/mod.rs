//! Zip archives as wheels use them (APPNOTE.TXT 6.3.10): stored and deflated members, ZIP64, data
//! descriptors.
//!
//! **Invariant:** every member is described the same way by both of its headers, lies in bytes of
//! its own, and has a name that is safe to unpack; anything else is refused when the archive is
//! opened.

mod archive;
mod archive_rules;
mod central;
mod content;
mod deflate;
mod entries;
mod eocd;
mod fields;
mod header;
pub(super) mod limits;
mod local;
mod member;
mod member_reader;
mod member_view;
mod name;
mod splice;
mod stretches;
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

/// Marks a 16-bit count that stands in the ZIP64 record (APPNOTE 4.4.1.4).
const FULL_16: u16 = u16::MAX;
/// Marks a 32-bit size or offset that stands in a ZIP64 field (APPNOTE 4.4.1.4).
const FULL_32: u32 = u32::MAX;
/// The ZIP64 extra field (APPNOTE 4.5.3).
const ZIP64_FIELD: u16 = 0x0001;
/// A second name in UTF-8 (Info-ZIP Unicode Path, APPNOTE 4.6.9).
const UNICODE_PATH_FIELD: u16 = 0x7075;
/// Bit 3: sizes and CRC stand behind the data (APPNOTE 4.4.4).
const FLAG_DESCRIPTOR: u16 = 1 << 3;
/// Bit 11: the name is UTF-8 (APPNOTE 4.4.4).
const FLAG_UTF8: u16 = 1 << 11;

#[cfg(test)]
mod tests;
