//! Limits on untrusted archives. Each is far above the needs of published builds. Together they
//! keep the memory that one archive can require below about 400 MiB.

/// Maximum length of a path or link target in bytes: `PATH_MAX` of Linux (limits.h).
pub const MAX_PATH_BYTES: usize = 4096;
/// Maximum size of an extended header in bytes (POSIX.1-2017, pax, "pax Extended Header"). It
/// contains up to two paths, and attributes that are not read.
pub const MAX_HEADER_BYTES: u64 = 64 << 10;
/// Maximum number of members of an archive, including extended headers for all members. A complete
/// ROCm installation has about 60,000 files.
pub const MAX_MEMBERS: u64 = 250_000;
/// Maximum total length of all paths and link targets of an archive in bytes.
pub const MAX_NAME_BYTES: u64 = 64 << 20;
/// Maximum number of path components of a member of an archive that is published with wheels.
pub const MAX_PATH_COMPONENTS: usize = 128;
/// Maximum number of directories of such an archive, including parents that are not members.
pub const MAX_DIRECTORIES: usize = 100_000;
/// Maximum total length of the paths of these directories in bytes.
pub const MAX_DIRECTORY_PATH_BYTES: usize = 16 << 20;
/// Maximum size of such an archive in bytes, decompressed.
pub const MAX_UNPACKED_BYTES: u64 = 64 << 30;
/// Binary logarithm of the maximum zstd window in bytes: 128 MiB, the window of `zstd --ultra -22`
/// and the default limit of the `zstd` program (RFC 8878, section 3.1.1.1.2, recommends to support
/// at least 8 MiB).
pub const MAX_ZSTD_WINDOW_LOG: u32 = 27;
/// Maximum size in bytes of a member that is buffered in memory if it is read out of order. Larger
/// members are written to a temporary file.
pub const MAX_MEMBER_IN_MEMORY_BYTES: u64 = 64 << 20;
/// Maximum memory of an xz decoder in bytes. Streams of `xz -9` need 65 MiB (xz(1)).
pub const MAX_XZ_BYTES: u64 = 256 << 20;
