//! Reasons why an archive is not read.

use std::io;

use super::limits::{
    MAX_FOLDER_PATH_BYTES, MAX_FOLDERS, MAX_HEADER_BYTES, MAX_MEMBERS, MAX_NAME_BYTES,
    MAX_PATH_BYTES, MAX_UNPACKED_BYTES, MAX_XZ_BYTES, MAX_ZSTD_WINDOW_LOG,
};

/// A reason why an archive is not read, and where in the uncompressed archive it is.
///
/// Readers return it inside of [`io::Error`]; [`ArchiveError::of`] takes it out again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArchiveError {
    /// It asks for more than the limits allow.
    #[error("{limit}")]
    Limit {
        /// The limit.
        limit: ArchiveLimit,
    },
    /// It is no tar, or readers would not agree on what it holds.
    #[error("{reason}, at byte {offset} of the unpacked archive")]
    Malformed {
        /// The reason.
        reason: String,
        /// Where the header begins.
        offset: u64,
    },
}

/// A limit that an archive goes beyond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ArchiveLimit {
    /// A path or link target is too long.
    #[error(
        "a {what} of {bytes} bytes at byte {offset} of the unpacked archive; at most {MAX_PATH_BYTES} are read"
    )]
    Path {
        /// "path" or "link target".
        what: &'static str,
        /// Length in bytes.
        bytes: u64,
        /// Where the header begins.
        offset: u64,
    },
    /// An extended header is too large.
    #[error(
        "an extended header of {bytes} bytes at byte {offset} of the unpacked archive; at most {MAX_HEADER_BYTES} are read"
    )]
    Header {
        /// Size in bytes.
        bytes: u64,
        /// Where the header begins.
        offset: u64,
    },
    /// There are too many members.
    #[error("more than {MAX_MEMBERS} members")]
    Members,
    /// The names of all members take too much.
    #[error("members whose paths take more than {} MiB together", MAX_NAME_BYTES >> 20)]
    Names,
    /// There are too many folders.
    #[error("more than {MAX_FOLDERS} folders")]
    Folders,
    /// The paths of all folders take too much.
    #[error("folders whose paths take more than {} MiB together", MAX_FOLDER_PATH_BYTES >> 20)]
    FolderPaths,
    /// It is too large without compression.
    #[error("more than {} GiB without compression", MAX_UNPACKED_BYTES >> 30)]
    Unpacked,
    /// The window of zstd is too large.
    #[error("a zstd window of more than {} MiB", 1 << (MAX_ZSTD_WINDOW_LOG - 20))]
    Window,
    /// The dictionary of xz is too large.
    #[error("an xz dictionary that needs more than {} MiB", MAX_XZ_BYTES >> 20)]
    Dictionary,
}

/// Returns whether an error of reading is about the bytes of an archive, and not about the machine.
pub fn is_damage(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    error.raw_os_error().is_none()
        && matches!(error.kind(), InvalidData | InvalidInput | UnexpectedEof)
}

impl ArchiveError {
    /// Returns the reason inside of an error of a reader.
    pub fn of(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }
}

impl From<ArchiveLimit> for ArchiveError {
    fn from(limit: ArchiveLimit) -> Self {
        Self::Limit { limit }
    }
}

impl From<ArchiveError> for io::Error {
    fn from(error: ArchiveError) -> Self {
        Self::new(io::ErrorKind::InvalidData, error)
    }
}

impl From<ArchiveLimit> for io::Error {
    fn from(limit: ArchiveLimit) -> Self {
        ArchiveError::from(limit).into()
    }
}
