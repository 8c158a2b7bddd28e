//! Limits on GPU code, so that scanning takes bounded memory and time for any input.
//!
//! They are far above what is known of real files: 95 bundles in sequence, 2,600 code objects in a
//! wheel, and 2.4 GB decompressed from one file. If a file exceeds a limit, its inventory has a
//! [`ScanLimit`](super::ScanLimit).

/// Bundles of one file that are read at the same time. In real files they do not overlap; text that
/// looks like a bundle is detected within 32 bytes.
pub(super) const MAX_OPEN_BUNDLES: usize = 16;
/// Bundles and code objects of one file, about 100 bytes each plus their entries; also the number
/// of compressed bundles that are decompressed.
pub(super) const MAX_CONTAINERS: usize = 1 << 16;
/// Ranges of one file that only look like bundles: they are kept because they may be malformed
/// bundles.
pub(super) const MAX_LOOKALIKES: usize = 1 << 10;
/// Entries of all bundles of one file, about 300 bytes each.
pub(super) const MAX_ENTRIES: usize = 1 << 17;
/// Fatbin wrappers of one file, 16 bytes each.
pub(super) const MAX_WRAPPERS: usize = 1 << 16;
/// Bytes that are decompressed from all compressed bundles of one file. It bounds the time; they
/// are not kept.
pub(super) const MAX_UNPACKED_BYTES: u64 = 64 << 30;
/// Binary logarithm of the largest zstd window, 128 MiB, and so of the memory for decompression:
/// zstd uses it at its highest level and for long distance matching (zstd manual,
/// `ZSTD_c_enableLongDistanceMatching`).
pub(super) const MAX_ZSTD_WINDOW_LOG: u32 = 27;

/// Entries of one bundle; one per target and one for the host are usual.
pub(super) const MAX_BUNDLE_ENTRIES: u64 = 4096;
/// Bytes of a bundle entry ID. Real ones have about 40.
pub(super) const MAX_ID_BYTES: u64 = 256;

/// Bytes of the table of contents of a kpack archive. Real ones have some hundred bytes per
/// library.
pub(super) const MAX_KPACK_TABLE_BYTES: u64 = 64 << 20;
/// Bytes of a reference to kpack archives; the rest is not read. Real ones have a few paths.
pub(super) const MAX_KPACK_REFERENCE_BYTES: u64 = 1 << 20;
