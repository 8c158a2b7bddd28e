//! Limits on archives that others made. Each is far above what builds publish, and keeps the memory
//! that one archive can ask for below about 400 MiB, whatever it holds.

/// The longest path of a member and the longest text of a link, in bytes: `PATH_MAX` of Linux
/// (limits.h).
pub const MAX_PATH_BYTES: usize = 4096;
/// The largest extended header (pax, "pax Extended Header"). It holds two paths, and attributes
/// that are not read.
pub const MAX_HEADER_BYTES: u64 = 64 << 10;
/// The most members of one archive, extended headers for all members included. A whole ROCm has
/// about 60,000 files.
pub const MAX_MEMBERS: u64 = 250_000;
/// All paths and texts of links of one archive together.
pub const MAX_NAME_BYTES: u64 = 64 << 20;
/// Components of the path of a member of an archive that is published beside wheels.
pub const MAX_PATH_COMPONENTS: usize = 128;
/// Folders of such an archive, including parents that are not members.
pub const MAX_FOLDERS: usize = 100_000;
/// Total size in bytes of the paths of these folders.
pub const MAX_FOLDER_PATH_BYTES: usize = 16 << 20;
/// Total size in bytes of such an archive without compression.
pub const MAX_UNPACKED_BYTES: u64 = 64 << 30;
/// The logarithm of the largest window of zstd: 128 MiB, as `zstd --ultra -22` makes it. Without
/// being asked to, the `zstd` program decompresses no more either (RFC 8878, section 3.1.1.1.2,
/// recommends 8 MiB at least).
pub const MAX_ZSTD_WINDOW_LOG: u32 = 27;
/// The largest member that is held in memory where it is read out of order; a larger one goes to a
/// temporary file.
pub const MAX_MEMBER_IN_MEMORY_BYTES: u64 = 64 << 20;
/// All memory of an xz decoder. `xz -9` needs 65 MiB (xz(1)).
pub const MAX_XZ_BYTES: u64 = 256 << 20;
