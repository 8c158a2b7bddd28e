//! Errors of reading archives.

use std::io;

use super::limits::{
    MAX_DIRECTORIES, MAX_DIRECTORY_PATH_BYTES, MAX_HEADER_BYTES, MAX_MEMBERS, MAX_NAME_BYTES,
    MAX_PATH_BYTES, MAX_UNPACKED_BYTES, MAX_XZ_BYTES, MAX_ZSTD_WINDOW_LOG,
};

/// The error inside of the [`io::Error`] that a reader of archives returns; see
/// [`ArchiveError::find_in`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArchiveError {
    /// The archive exceeds a limit.
    #[error("{limit}")]
    Limit {
        /// The exceeded limit.
        limit: ArchiveLimit,
    },
    /// The archive is not a tar archive, or readers interpret it differently.
    #[error("{reason}, at byte {offset} of the unpacked archive")]
    Malformed {
        /// The reason.
        reason: TarFormatError,
        /// The offset of the header in the decompressed archive.
        offset: u64,
    },
}

/// A limit that an archive exceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ArchiveLimit {
    /// A path or link target is too long.
    #[error(
        "a {what} of {bytes} bytes at byte {offset} of the unpacked archive; at most {MAX_PATH_BYTES} are read"
    )]
    Path {
        /// `path` or `link target`.
        what: &'static str,
        /// Length in bytes.
        bytes: u64,
        /// The offset of the header in the decompressed archive.
        offset: u64,
    },
    /// An extended header is too large.
    #[error(
        "an extended header of {bytes} bytes at byte {offset} of the unpacked archive; at most {MAX_HEADER_BYTES} are read"
    )]
    Header {
        /// Size in bytes.
        bytes: u64,
        /// The offset of the header in the decompressed archive.
        offset: u64,
    },
    /// The archive has too many members.
    #[error("more than {MAX_MEMBERS} members")]
    Members,
    /// The paths and link targets of all members together are too long.
    #[error("members whose paths take more than {} MiB together", MAX_NAME_BYTES >> 20)]
    Names,
    /// The archive has too many directories.
    #[error("more than {MAX_DIRECTORIES} directories")]
    Directories,
    /// The paths of all directories together are too long.
    #[error(
        "directories whose paths take more than {} MiB together",
        MAX_DIRECTORY_PATH_BYTES >> 20
    )]
    DirectoryPaths,
    /// The decompressed archive is too large.
    #[error("more than {} GiB without compression", MAX_UNPACKED_BYTES >> 30)]
    Unpacked,
    /// The window of the zstd stream is too large.
    #[error("a zstd window of more than {} MiB", 1 << (MAX_ZSTD_WINDOW_LOG - 20))]
    Window,
    /// The dictionary of the xz stream is too large.
    #[error("an xz dictionary that needs more than {} MiB", MAX_XZ_BYTES >> 20)]
    Dictionary,
}

/// The reason why a tar archive is malformed or ambiguous.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TarFormatError {
    /// The archive ends without an end-of-archive block.
    #[error("it is truncated: the end-of-archive block is missing")]
    MissingEnd,
    /// A byte after the end-of-archive block is not zero.
    #[error("there is data after the end of the archive")]
    TrailingData,
    /// The checksum of a header is wrong.
    #[error("a header does not match its checksum")]
    Checksum,
    /// A record of a pax header does not have the form `LENGTH KEYWORD=VALUE`.
    #[error("malformed pax record")]
    PaxRecord,
    /// A pax header contains a keyword twice.
    #[error("an extended header has two paths, links or sizes")]
    RepeatedPaxKeyword,
    /// A pax header contains an empty value.
    #[error("an extended header has an empty path or link")]
    EmptyPaxValue,
    /// A size in a pax header is not a decimal number.
    #[error("a size in an extended header is not a number")]
    PaxSize,
    /// A pax header for all members contains a path, link target or size.
    #[error("an extended header gives all members one path, link or size")]
    GlobalPaxHeader,
    /// A member has both a pax header and a GNU long name.
    #[error("a member is named by two kinds of extended headers")]
    MixedExtendedHeaders,
    /// A member has two extended headers of the same kind.
    #[error("two extended headers of one kind describe one member")]
    RepeatedExtendedHeader,
    /// No member follows an extended header.
    #[error("an extended header describes a member that does not exist")]
    DanglingExtendedHeader,
    /// The archive contains an extended header of Solaris tar.
    #[error("extended headers of Solaris are not supported")]
    SolarisExtendedHeader,
    /// A header that is not in ustar format has a path prefix.
    #[error("a header that is not in the ustar format has a path prefix")]
    PrefixWithoutUstar,
    /// The mode of a member is not an octal number.
    #[error("the mode of a member is not a number")]
    Mode,
    /// The size of a member is not an octal number.
    #[error("the size of a member is not a number")]
    Size,
    /// The size of a member is negative or has more than 64 bits.
    #[error("the size of a member is negative or has more than 64 bits")]
    SizeRange,
    /// The end of a member exceeds 64 bits.
    #[error("a member is larger than any file")]
    MemberTooLarge,
    /// A path or link target contains a zero byte.
    #[error("a name has a zero byte")]
    ZeroByteInName,
    /// The path of a regular file ends with a slash.
    #[error("the path of a file ends with a slash, like that of a directory")]
    TrailingSlash,
    /// A member that is not a regular file has content.
    #[error("a member that is not a file has content")]
    UnexpectedContent,
}

/// Returns whether a read error is caused by the content of an archive, and not by the system.
pub fn is_damage(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    error.raw_os_error().is_none()
        && matches!(error.kind(), InvalidData | InvalidInput | UnexpectedEof)
}

impl ArchiveError {
    /// Returns the archive error inside of an I/O error, if there is one.
    pub fn find_in(error: &io::Error) -> Option<&Self> {
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
