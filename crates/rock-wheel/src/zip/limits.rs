//! Limits on wheels as archives, so that reading one takes bounded memory whatever it claims.
//!
//! An archive at all of these limits is opened in less than 100 MiB: the central directory once,
//! and about 200 bytes more for each member.

/// Members of an archive. The largest wheels have about 40,000.
pub(in super::super) const MAX_MEMBERS: u64 = 1 << 18;
/// Bytes of the central directory: 128 for each of the most members.
pub(super) const MAX_CENTRAL_BYTES: u64 = 32 << 20;
/// Bytes of the comment of an archive. Wheels have none.
pub(super) const MAX_COMMENT_BYTES: usize = 4 << 10;
/// Bytes of the name of a member. Installers put the path of the environment in front of it, and
/// Linux takes at most 4,095 bytes for both (limits.h, `PATH_MAX`).
pub(super) const MAX_NAME_BYTES: usize = 2 << 10;
/// Bytes of one part of a name: more are no file name on any system (limits.h, `NAME_MAX`).
pub(in super::super) const MAX_NAME_PART_BYTES: usize = 255;

/// Bytes of METADATA and of WHEEL.
pub(in super::super) const MAX_HEADERS_BYTES: u64 = 16 << 20;
/// Lines of METADATA and of WHEEL before the first empty one. The largest METADATA have a few
/// thousand.
pub(in super::super) const MAX_HEADER_LINES: usize = 1 << 16;
/// Bytes of RECORD.
pub(in super::super) const MAX_RECORD_BYTES: u64 = 64 << 20;
/// Rows of RECORD: one for each of the most members, and a signature.
pub(in super::super) const MAX_RECORD_ROWS: usize = (1 << 18) + 1;
/// Bytes of `entry_points.txt`.
pub(in super::super) const MAX_ENTRY_POINTS_BYTES: u64 = 1 << 20;

/// Bytes by which deflated data may be larger than its content and is still inflated at once: five
/// for each stored block (RFC 1951, 3.2.4), of which there are few.
pub(super) const MAX_ADDED_BYTES: u64 = 64 << 10;
/// Blocks of deflated data that are followed. Deflaters make one of some 10 to 300 KB.
pub(super) const MAX_BLOCKS: u32 = 1 << 20;
/// Bytes that are kept of pieces with the names of sections, five of them. A library has one such
/// table.
pub(super) const MAX_NAMES_BYTES: usize = 2 << 20;
/// The most bytes that a byte of deflated data inflates to: a match of 258 bytes takes two bits at
/// least (RFC 1951, section 3.2.5; zlib's technical details, "Maximum Compression Factor": 1032:1).
/// No byte is added: the header of a block and its end take bits as well.
pub(super) const MAX_DEFLATE_RATIO: u64 = 1032;
