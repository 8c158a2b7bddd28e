//! The error type of this crate, and its conversion to diagnostics.

use std::io;

use super::zip::ArchiveViolation;
use crate::codes::wheel as codes;
use rock_diagnostic::codes::host;
use rock_diagnostic::{Code, Diagnostic, Location};

/// An error of reading, rewriting or writing a wheel.
#[derive(Debug, thiserror::Error)]
pub enum WheelError {
    /// The file has no end of central directory record.
    #[error("it is not a zip archive, or is truncated: {0}")]
    NotAZip(&'static str),
    /// A zip structure contradicts another one or the file.
    #[error("the zip structure at byte {offset} is damaged: {reason}")]
    DamagedZip {
        /// Offset of the structure from the start of the file.
        offset: u64,
        /// The contradiction.
        reason: String,
    },
    /// A member is encrypted.
    #[error("the member `{member}` is encrypted")]
    EncryptedMember {
        /// Name of the member.
        member: String,
    },
    /// The archive is split over several files.
    #[error("it is one part of a split zip archive")]
    MultiDisk,
    /// A member is neither stored nor deflated.
    #[error("the member `{member}` is compressed with {method}, which installers do not support")]
    UnsupportedCompression {
        /// Name of the member.
        member: String,
        /// Name or number of the compression method.
        method: String,
    },
    /// A member name is unsafe to unpack, or ambiguous.
    #[error("the member name `{member}` is not valid: {reason}")]
    UnsafeName {
        /// The name, escaped.
        member: String,
        /// The reason.
        reason: &'static str,
    },
    /// Two members have the same name.
    #[error("two members are named `{member}`")]
    DuplicateMember {
        /// Name of the members.
        member: String,
    },
    /// The two headers of a member differ.
    #[error("the local header and the central directory disagree about the {what} of `{member}`")]
    HeaderMismatch {
        /// Name of the member in the central directory.
        member: String,
        /// The value that differs.
        what: &'static str,
    },
    /// Two members overlap.
    #[error("the members `{first}` and `{second}` overlap")]
    OverlappingMembers {
        /// Name of the member with the smaller offset.
        first: String,
        /// Name of the other member.
        second: String,
    },
    /// A member is a symbolic link.
    #[error("the member `{member}` is a symbolic link, which installers write as a text file")]
    SymlinkMember {
        /// Name of the member.
        member: String,
    },
    /// A zip record violates a rule of an installer or PyPI.
    #[error(transparent)]
    ArchiveRule(#[from] ArchiveViolation),
    /// The data of a member does not match its headers.
    #[error("the data of `{member}` is damaged: {reason}")]
    CorruptMember {
        /// Name of the member.
        member: String,
        /// A sentence that describes the error.
        reason: String,
    },
    /// A metadata file exceeds its limit.
    #[error("the member `{member}` has {size_bytes} bytes, but at most {limit_bytes} are read")]
    MemberTooLarge {
        /// Name of the member.
        member: String,
        /// Size of the file.
        size_bytes: u64,
        /// The limit that it exceeds.
        limit_bytes: u64,
    },
    /// There is no dist-info directory, or more than one.
    #[error("{}", dist_info_message(found))]
    DistInfoCount {
        /// Names of the directories.
        found: Vec<String>,
    },
    /// A required member is missing.
    #[error("`{member}` is missing")]
    MissingMember {
        /// Name of the missing member.
        member: String,
    },
    /// RECORD is not a table of three columns, or has contradictory rows.
    #[error("line {line} of RECORD cannot be read: {reason}")]
    InvalidRecord {
        /// Name of the member.
        member: String,
        /// Line number, from 1.
        line: u64,
        /// A sentence that describes the error.
        reason: String,
    },
    /// A header of METADATA or WHEEL is missing or invalid.
    #[error("in `{member}`: {reason}")]
    InvalidHeader {
        /// Name of the member.
        member: String,
        /// A sentence that describes the error.
        reason: String,
    },
    /// The version in METADATA differs from that of the filename.
    #[error("the filename has version `{named}`, but METADATA has `{written}`")]
    VersionMismatch {
        /// Version in the filename.
        named: String,
        /// Version in METADATA.
        written: String,
        /// Name of the METADATA member.
        member: String,
    },
    /// The distribution in METADATA differs from that of the filename.
    #[error("the filename has the name `{named}`, but METADATA has `Name: {written}`")]
    NameMismatch {
        /// Distribution in the filename.
        named: String,
        /// Name in METADATA.
        written: String,
        /// Name of the METADATA member.
        member: String,
    },
    /// A member does not match its row of RECORD.
    #[error("RECORD has `{listed}` for `{member}`, but it is `{actual}`")]
    RecordMismatch {
        /// Name of the member.
        member: String,
        /// Hash or size in RECORD.
        listed: String,
        /// Hash or size of the member.
        actual: String,
    },
    /// A member is not listed in RECORD.
    #[error("RECORD does not list `{member}`, so it cannot be verified")]
    NotInRecord {
        /// Name of the member.
        member: String,
    },
    /// The row of a member in RECORD has no hash of SHA-256 or stronger.
    #[error("{}", weak_hashes_message(listed, *members))]
    WeakHash {
        /// Name of the member.
        member: String,
        /// Hash in RECORD.
        listed: String,
        /// Number of members with such a row.
        members: usize,
    },
    /// The wheel has a local version label, and
    /// [`ExistingLabel::Refuse`](crate::ExistingLabel::Refuse) does not allow changing it.
    #[error("the wheel already has the label `{label}`")]
    HasLabel {
        /// The existing label.
        label: String,
    },
    /// The wheel cannot be read.
    #[error("cannot read the wheel: {0}")]
    Read(#[source] io::Error),
    /// The content of a new member cannot be read.
    #[error("cannot read the new content of `{member}`: {source}")]
    ReadContent {
        /// Name of the member.
        member: String,
        /// The I/O error.
        #[source]
        source: io::Error,
    },
    /// The wheel cannot be written.
    #[error("cannot write the wheel: {0}")]
    Write(#[source] io::Error),
}

impl WheelError {
    /// Converts the error to a diagnostic, located in the wheel with this name.
    pub fn diagnostic(&self, wheel: &str) -> Diagnostic {
        let diagnostic = Diagnostic::new(self.code(), self.to_string()).at(self.place(wheel), "");
        match self {
            Self::HasLabel { .. } => {
                diagnostic.help("pass `--replace` to replace it, or `--append` to add to it")
            }
            Self::VersionMismatch { .. } | Self::NameMismatch { .. } => {
                diagnostic.help("rename the file to its original name")
            }
            Self::WeakHash { .. } => diagnostic.help(REHASH),
            Self::RecordMismatch { .. } | Self::NotInRecord { .. } => diagnostic.help(
                "`rock-matrix wheel verify WHEEL` reports all problems; build or download the \
                 wheel again",
            ),
            Self::NotAZip(_) => diagnostic.help("build or download the wheel again"),
            _ => diagnostic,
        }
    }

    fn code(&self) -> &'static Code {
        match self {
            Self::NotAZip(_) => &codes::NOT_A_ZIP,
            Self::DamagedZip { .. } => &codes::DAMAGED_ZIP,
            Self::EncryptedMember { .. } => &codes::ENCRYPTED_MEMBER,
            Self::MultiDisk => &codes::MULTI_DISK_ZIP,
            Self::UnsupportedCompression { .. } => &codes::UNSUPPORTED_COMPRESSION,
            Self::UnsafeName { .. } => &codes::UNSAFE_MEMBER_NAME,
            Self::DuplicateMember { .. } => &codes::DUPLICATE_MEMBER,
            Self::HeaderMismatch { .. } => &codes::HEADERS_DIFFER,
            Self::OverlappingMembers { .. } => &codes::OVERLAPPING_MEMBERS,
            Self::SymlinkMember { .. } => &codes::SYMLINK_MEMBER,
            Self::ArchiveRule(violation) => violation.rule.code(),
            Self::CorruptMember { .. } => &codes::CORRUPT_MEMBER,
            Self::MemberTooLarge { .. } => &codes::MEMBER_TOO_LARGE,
            Self::DistInfoCount { .. } => &codes::DIST_INFO_FOLDER,
            Self::MissingMember { .. } => &codes::MISSING_DIST_INFO_FILE,
            Self::InvalidRecord { .. } => &codes::BAD_RECORD,
            Self::InvalidHeader { .. } => &codes::BAD_WHEEL_HEADER,
            Self::VersionMismatch { .. } => &codes::VERSION_MISMATCH,
            Self::NameMismatch { .. } => &codes::NAME_MISMATCH,
            Self::RecordMismatch { .. } => &codes::RECORD_MISMATCH,
            Self::NotInRecord { .. } => &codes::MEMBER_NOT_IN_RECORD,
            Self::WeakHash { .. } => &codes::WEAK_RECORD_HASH,
            Self::HasLabel { .. } => &codes::HAS_LABEL,
            Self::Read(_) | Self::ReadContent { .. } => &host::CANNOT_READ_FILE,
            Self::Write(_) => &host::CANNOT_WRITE_FILE,
        }
    }

    fn place(&self, wheel: &str) -> Location {
        match self {
            Self::EncryptedMember { member }
            | Self::UnsupportedCompression { member, .. }
            | Self::UnsafeName { member, .. }
            | Self::DuplicateMember { member }
            | Self::HeaderMismatch { member, .. }
            | Self::OverlappingMembers { second: member, .. }
            | Self::SymlinkMember { member }
            | Self::CorruptMember { member, .. }
            | Self::MemberTooLarge { member, .. }
            | Self::InvalidRecord { member, .. }
            | Self::InvalidHeader { member, .. }
            | Self::NameMismatch { member, .. }
            | Self::RecordMismatch { member, .. }
            | Self::NotInRecord { member }
            | Self::WeakHash { member, .. }
            | Self::ReadContent { member, .. }
            | Self::VersionMismatch { member, .. }
            | Self::ArchiveRule(ArchiveViolation {
                member: Some(member),
                ..
            }) => Location::Member {
                wheel: wheel.to_owned(),
                member: member.clone(),
            },
            _ => Location::File(wheel.into()),
        }
    }
}

fn dist_info_message(found: &[String]) -> String {
    match found {
        [] => "there is no top-level `.dist-info` directory".to_owned(),
        _ => format!(
            "there are {} top-level `.dist-info` directories: {}",
            found.len(),
            found.join(", ")
        ),
    }
}

/// Help for rows of RECORD without a usable hash.
pub(super) const REHASH: &str = "`rock-matrix wheel repair WHEEL` writes a new wheel with the \
                                 SHA-256 hash of every file in RECORD; with `--relabel LABEL` it \
                                 also sets a label";

/// Returns the message for a number of rows without a usable hash, located at the first of them.
pub(super) fn weak_hashes_message(listed: &str, members: usize) -> String {
    match members {
        0 | 1 => weak_hash_message(listed),
        _ => format!("RECORD has no acceptable hash for {members} members, of which this is one"),
    }
}

/// Returns the message for a row without a usable hash.
pub(super) fn weak_hash_message(listed: &str) -> String {
    match listed.split('=').next().unwrap_or_default() {
        "" => "RECORD has no hash for it".to_owned(),
        name => format!("RECORD has a hash for it that is not permitted, `{name}`"),
    }
}
