//! Limits on code for GPUs, so that scanning a file takes bounded memory and time whatever it
//! claims.
//!
//! They are far above what is known of real files: 95 bundles one after another, 2,600 code objects
//! in a wheel, and 2.4 GB unpacked of one file. A limit of one file that was met is a
//! [`Limit`](super::Limit) of its inventory.

/// Bundles of one file that are read at once. In real files one ends before the next begins; text
/// that looks like a bundle is known within 32 bytes.
pub(super) const MAX_OPEN_BUNDLES: usize = 16;
/// Bundles and code objects of one file that are kept, about 100 bytes each beside their entries;
/// also the compressed bundles that are unpacked.
pub(super) const MAX_CONTAINERS: usize = 1 << 16;
/// Stretches of one file that are kept although they only look like bundles: they may turn out to
/// be damaged ones.
pub(super) const MAX_BAITS: usize = 1 << 10;
/// Entries of all bundles of one file, about 300 bytes each.
pub(super) const MAX_ENTRIES: usize = 1 << 17;
/// Records of one file by which it registers bundles, 16 bytes each.
pub(super) const MAX_WRAPPERS: usize = 1 << 16;
/// Bytes that are unpacked of all compressed bundles of one file. It bounds the time: none of them
/// are kept.
pub(super) const MAX_UNPACKED_BYTES: u64 = 64 << 30;
/// The logarithm of the largest window of zstd, and so of the memory for unpacking: 128 MiB, as
/// zstd makes it at its highest level and with long distance matching (zstd manual,
/// `ZSTD_c_enableLongDistanceMatching`).
pub(super) const MAX_ZSTD_WINDOW_LOG: u32 = 27;

/// Entries of one bundle: one for each target and the host are usual.
pub(super) const MAX_BUNDLE_ENTRIES: u64 = 4096;
/// Bytes of the id of an entry. Real ones have about 40.
pub(super) const MAX_ID_BYTES: u64 = 256;

/// Bytes of the table of contents of a kpack archive. It has some hundred bytes for each library.
pub(super) const MAX_KPACK_TABLE_BYTES: u64 = 64 << 20;
/// Bytes of a reference to kpack archives; what follows is not read. It has a few paths.
pub(super) const MAX_KPACK_REFERENCE_BYTES: u64 = 1 << 20;
