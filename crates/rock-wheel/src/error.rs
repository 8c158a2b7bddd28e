//! What can be wrong with a wheel as a container, and with changing it.

use std::io;

use super::zip::ArchiveViolation;
use crate::codes::wheel as codes;
use rock_diagnostic::codes::host;
use rock_diagnostic::{Code, Diagnostic, Place};

/// A wheel that cannot be read, or cannot be changed as asked.
#[derive(Debug, thiserror::Error)]
pub enum WheelError {
    /// There is no end of a central directory.
    #[error("it is no zip archive, or is cut off: {0}")]
    NotAZip(&'static str),
    /// A structure does not fit the others.
    #[error("the zip structure at byte {offset} is damaged: {reason}")]
    DamagedZip {
        /// Where, in bytes from the start of the file.
        offset: u64,
        /// What does not fit.
        reason: String,
    },
    /// A member needs a password.
    #[error("the member `{member}` is encrypted")]
    EncryptedMember {
        /// Its name.
        member: String,
    },
    /// A piece of an archive of several files.
    #[error("it is one of several parts of a zip archive")]
    MultiDisk,
    /// Neither stored nor deflated.
    #[error("the member `{member}` is compressed by {method}, which installers do not read")]
    UnsupportedCompression {
        /// Its name.
        member: String,
        /// The method's name or number.
        method: String,
    },
    /// A name that could leave the folder that it is unpacked into, or means another thing
    /// elsewhere.
    #[error("the member name `{member}` is refused: {reason}")]
    UnsafeName {
        /// The name, made printable.
        member: String,
        /// Why.
        reason: &'static str,
    },
    /// Two members of one name.
    #[error("two members are named `{member}`")]
    DuplicateMember {
        /// The name.
        member: String,
    },
    /// The two headers of a member contradict each other.
    #[error("the local header of `{member}` gives another {what} than the central directory")]
    HeaderMismatch {
        /// Its name in the central directory.
        member: String,
        /// What differs.
        what: &'static str,
    },
    /// Two members share bytes.
    #[error("the members `{first}` and `{second}` overlap")]
    OverlappingMembers {
        /// The one that begins first.
        first: String,
        /// The other.
        second: String,
    },
    /// A symbolic link.
    #[error("the member `{member}` is a symbolic link, which installers write as a text file")]
    SymlinkMember {
        /// Its name.
        member: String,
    },
    /// A record that breaks a rule of an installer or of PyPI.
    #[error(transparent)]
    ArchiveRule(#[from] ArchiveViolation),
    /// The data of a member is not what its header says.
    #[error("the data of `{member}` is damaged: {reason}")]
    CorruptMember {
        /// Its name.
        member: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A text file of dist-info that is larger than any real one.
    #[error("the member `{member}` has {size_bytes} bytes, and at most {limit_bytes} are read")]
    MemberTooLarge {
        /// Its name.
        member: String,
        /// Its size.
        size_bytes: u64,
        /// The limit.
        limit_bytes: u64,
    },
    /// No dist-info folder, or several.
    #[error("{}", dist_info_message(found))]
    DistInfoCount {
        /// The folders found.
        found: Vec<String>,
    },
    /// METADATA, WHEEL or RECORD is missing.
    #[error("`{member}` is missing")]
    MissingMember {
        /// The name it should have.
        member: String,
    },
    /// RECORD is no table of three columns.
    #[error("line {line} of RECORD cannot be read: {reason}")]
    InvalidRecord {
        /// The member's name.
        member: String,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// A header of METADATA or WHEEL that is missing or cannot be read.
    #[error("in `{member}`: {reason}")]
    InvalidHeader {
        /// The file's name.
        member: String,
        /// What is wrong with it.
        reason: String,
    },
    /// METADATA and the file name disagree.
    #[error("the file name says version `{named}`, and METADATA `{written}`")]
    VersionMismatch {
        /// The version in the file name.
        named: String,
        /// The version in METADATA.
        written: String,
        /// The name of METADATA.
        member: String,
    },
    /// METADATA and the file name are about different projects.
    #[error("the file is named after `{named}`, and METADATA says `Name: {written}`")]
    NameMismatch {
        /// The distribution in the file name.
        named: String,
        /// The name in METADATA.
        written: String,
        /// The name of METADATA.
        member: String,
    },
    /// A member that is about to change is not what RECORD says.
    #[error("RECORD says `{listed}` of `{member}`, and it is `{actual}`")]
    RecordMismatch {
        /// Its name.
        member: String,
        /// The hash in RECORD.
        listed: String,
        /// Its own.
        actual: String,
    },
    /// A member that RECORD does not list.
    #[error("RECORD does not list `{member}`, so nothing vouches for it")]
    NotInRecord {
        /// Its name.
        member: String,
    },
    /// A member whose row of RECORD has no hash, or one that may not be used.
    #[error("{}", weak_hashes_message(listed, *members))]
    WeakHash {
        /// Its name.
        member: String,
        /// The hash as written.
        listed: String,
        /// How many members have such a row.
        members: usize,
    },
    /// There is a label, and neither replacing nor appending was asked for.
    #[error("the wheel has the label `{label}` already")]
    HasLabel {
        /// It.
        label: String,
    },
    /// The wheel cannot be read from where it lies.
    #[error("cannot read the wheel: {0}")]
    Read(#[source] io::Error),
    /// What a new member shall hold cannot be read.
    #[error("cannot read what `{member}` shall hold: {source}")]
    ReadContent {
        /// Its name.
        member: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The wheel cannot be written to where it shall lie.
    #[error("cannot write the wheel: {0}")]
    Write(#[source] io::Error),
}

impl WheelError {
    /// The diagnostic, placed in a wheel of this name.
    pub fn diagnostic(&self, wheel: &str) -> Diagnostic {
        let diagnostic = Diagnostic::new(self.code(), self.to_string()).at(self.place(wheel), "");
        match self {
            Self::HasLabel { .. } => diagnostic.help("use `--replace` for another label, or `--append` to add to it"),
            Self::VersionMismatch { .. } | Self::NameMismatch { .. } => diagnostic.help("give the file the name it was built with"),
            Self::WeakHash { .. } => diagnostic.help(REHASH),
            Self::RecordMismatch { .. } | Self::NotInRecord { .. } => {
                diagnostic.help("`rock-matrix wheel verify WHEEL` tells all of it; build or download the wheel again")
            }
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

    fn place(&self, wheel: &str) -> Place {
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
            }) => Place::Member {
                wheel: wheel.to_owned(),
                member: member.clone(),
            },
            _ => Place::File(wheel.into()),
        }
    }
}

fn dist_info_message(found: &[String]) -> String {
    match found {
        [] => "there is no `.dist-info` folder at the top".to_owned(),
        _ => format!(
            "there are {} `.dist-info` folders at the top: {}",
            found.len(),
            found.join(", ")
        ),
    }
}

/// What gives a wheel a RECORD with hashes.
pub(super) const REHASH: &str = "`rock-matrix wheel repair WHEEL`, without `--trust-record`, reads every member and writes its SHA-256 into \
     RECORD; `--relabel` sets a label along with it";

/// What is said of so many rows without a hash that may be used, by the first of them.
pub(super) fn weak_hashes_message(listed: &str, members: usize) -> String {
    match members {
        0 | 1 => weak_hash_message(listed),
        _ => format!(
            "RECORD has no hash that may be used of {members} members, of which this is one"
        ),
    }
}

/// What is said of a row without a hash that may be used.
pub(super) fn weak_hash_message(listed: &str) -> String {
    match listed.split('=').next().unwrap_or_default() {
        "" => "RECORD has no hash of it".to_owned(),
        name => format!("RECORD has a hash of it that may not be used, `{name}`"),
    }
}
