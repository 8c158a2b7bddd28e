//! Limits on archives and metadata files, which bound the memory of reading any wheel.
//!
//! Opening an archive at all of these limits takes less than 100 MiB: the central directory, and
//! about 200 bytes for each member.

/// Maximum number of members. The largest wheels have about 40,000.
pub(in super::super) const MAX_MEMBERS: u64 = 1 << 18;
/// Maximum size of the central directory: 128 bytes for each of the most members.
pub(super) const MAX_CENTRAL_BYTES: u64 = 32 << 20;
/// Maximum size of the comment of an archive. Wheels have none.
pub(super) const MAX_COMMENT_BYTES: usize = 4 << 10;
/// Maximum size of a member's name. Installers put the path of the environment in front of it, and
/// Linux allows 4,095 bytes for both (limits.h, `PATH_MAX`).
pub(super) const MAX_NAME_BYTES: usize = 2 << 10;
/// Maximum size of one component of a name (limits.h, `NAME_MAX`).
pub(in super::super) const MAX_NAME_PART_BYTES: usize = 255;

/// Maximum size of METADATA and of WHEEL.
pub(in super::super) const MAX_HEADERS_BYTES: u64 = 16 << 20;
/// Maximum number of header lines of METADATA and of WHEEL. The largest METADATA files have a few
/// thousand.
pub(in super::super) const MAX_HEADER_LINES: usize = 1 << 16;
/// Maximum size of RECORD.
pub(in super::super) const MAX_RECORD_BYTES: u64 = 64 << 20;
/// Maximum number of rows of RECORD: one for each of the most members, and a signature.
pub(in super::super) const MAX_RECORD_ROWS: usize = (1 << 18) + 1;
/// Maximum size of `entry_points.txt`.
pub(in super::super) const MAX_ENTRY_POINTS_BYTES: u64 = 1 << 20;

/// Bytes by which deflated data may exceed its content and still be inflated as a whole: a few
/// stored blocks with five bytes each (RFC 1951, 3.2.4).
pub(super) const MAX_ADDED_BYTES: u64 = 64 << 10;
/// Maximum number of blocks of a stream to splice. Compressors write blocks of about 10 to 300 KB.
pub(super) const MAX_BLOCKS: u32 = 1 << 20;
/// Maximum size of the cached chunks with section names: five chunks. A library has one such table.
pub(super) const MAX_NAMES_BYTES: usize = 2 << 20;
/// Maximum ratio of content to deflated data: a match of 258 bytes takes at least two bits (RFC
/// 1951, section 3.2.5; zlib's technical details, "Maximum Compression Factor": 1032:1). No byte is
/// added for rounding, because the header and end of a block take bits as well.
pub(super) const MAX_DEFLATE_RATIO: u64 = 1032;
