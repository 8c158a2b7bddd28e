//! Rules of pip, uv and PyPI for the records of an archive, beyond the APPNOTE.
//!
//! The strictest of the three applies: a wheel that one of them refuses, or that two of them read
//! as different files, is refused. Their rules are, at the time of writing, in
//! - `CPython`'s `Lib/zipfile/__init__.py`, which pip reads wheels with, and pip's
//!   `operations/install/wheel.py`;
//! - uv's `crates/uv-extract/src/stream.rs` and its `async_zip` (`astral-sh/rs-async-zip`), which
//!   read an archive from its first byte on and compare what they find with the central directory;
//! - PyPI's `warehouse/utils/zipfiles.py`, which does the same on upload (`docs/user/archives.md`).

use std::collections::BTreeSet;

use super::super::WheelError;
use super::fields::{split_extra_field, u32_at, u64_at};
use super::limits::MAX_COMMENT_BYTES;
use super::local::LOCAL_SIGNATURE;
use super::{
    CompressionMethod, FLAG_DESCRIPTOR, FULL_32, UNICODE_PATH_FIELD, ZIP64_FIELD, ZipMember,
};
use crate::codes::wheel as codes;
use rock_bytes::ReadAt;
use rock_diagnostic::Code;

/// The only defined version of the Unicode Path field (APPNOTE 4.6.9).
const UNICODE_PATH_VERSION: u8 = 1;
/// Size of the version and CRC-32 in front of the name in a Unicode Path field.
const UNICODE_PATH_HEAD_BYTES: usize = 5;
/// The newest version of the format, 6.3 (APPNOTE 4.4.3.2).
const MAX_VERSION: u16 = 63;
/// Optional signature of a data descriptor (APPNOTE 4.3.9.3).
const DESCRIPTOR_SIGNATURE: u32 = 0x0807_4b50;
/// Control characters; every zip record has one in its signature, and text has none.
const RECORD_BYTES: std::ops::RangeInclusive<u8> = 1..=8;

/// A violation of an archive rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct ArchiveViolation {
    /// The violated rule.
    pub rule: ArchiveRule,
    /// The member, if it concerns one.
    pub member: Option<String>,
    /// Offset of the header or bytes that violate it, from the start of the file.
    pub offset: u64,
    /// A sentence that describes it.
    pub reason: String,
}

/// A rule for the records of an archive, stricter than the APPNOTE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArchiveRule {
    /// A Unicode Path field has the same name as its header.
    UnicodePath,
    /// Extra fields are well formed and unique, and a local zip64 field has both sizes.
    ExtraField,
    /// No path is both a file and a directory.
    FileAndDirectory,
    /// Every byte belongs to a member of the central directory, or to the directory.
    HiddenBytes,
    /// The comment of the archive contains no zip record.
    ArchiveComment,
    /// A data descriptor follows the data if flag bit 3 is set, and matches the central directory.
    DescriptorMismatch,
    /// No member has a data descriptor.
    DataDescriptor,
    /// No member has a comment.
    MemberComment,
    /// No member needs a format version after 6.3.
    FormatVersion,
    /// The zip64 EOCD has no extensible data.
    Zip64Extension,
    /// The archive is within the limits of this crate.
    Limit,
}

impl ArchiveRule {
    /// Returns the code of diagnostics for the rule.
    pub(in super::super) fn code(self) -> &'static Code {
        match self {
            Self::UnicodePath => &codes::UNICODE_PATH,
            Self::ExtraField => &codes::BAD_EXTRA_FIELD,
            Self::FileAndDirectory => &codes::MEMBER_AND_FOLDER,
            Self::HiddenBytes => &codes::HIDDEN_BYTES,
            Self::ArchiveComment => &codes::RECORDS_IN_COMMENT,
            Self::DescriptorMismatch => &codes::FALSE_DATA_DESCRIPTOR,
            Self::DataDescriptor => &codes::DATA_DESCRIPTOR,
            Self::MemberComment => &codes::MEMBER_COMMENT,
            Self::FormatVersion => &codes::ZIP_VERSION,
            Self::Zip64Extension => &codes::ZIP64_EXTENSION,
            Self::Limit => &codes::ARCHIVE_TOO_LARGE,
        }
    }
}

/// The kind of a member's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HeaderKind {
    Central,
    Local,
}

/// A parsed header of a member.
#[derive(Debug, Clone, Copy)]
pub(super) struct HeaderRecord<'h> {
    pub(super) kind: HeaderKind,
    /// Offset in the archive.
    pub(super) offset: u64,
    /// Version needed to extract.
    pub(super) version: u16,
    pub(super) method: CompressionMethod,
    /// The 32-bit fields of size and compressed size.
    pub(super) sizes: [u32; 2],
    /// The decoded name.
    pub(super) name: &'h str,
    /// The name in the archive.
    pub(super) raw_name: &'h [u8],
    /// All extra fields.
    pub(super) extra: &'h [u8],
}

impl HeaderRecord<'_> {
    /// Checks all rules for a single header.
    pub(super) fn check(&self) -> Result<(), WheelError> {
        // CPython: `RealGetContents`, `MAX_EXTRACT_VERSION`; async_zip: `validate_extract_version`.
        // The upper byte is reserved.
        let version = self.version & 0xff;
        if version > MAX_VERSION {
            let what = format!(
                "needs version {}.{} of the format; the newest is 6.3",
                version / 10,
                version % 10
            );
            return Err(self.violation(ArchiveRule::FormatVersion, &what));
        }
        let mut rest = self.extra;
        let mut seen = BTreeSet::new();
        while !rest.is_empty() {
            // CPython: "Corrupt extra field"; async_zip: `InvalidExtraFieldHeader`; PyPI also
            // refuses one to three bytes behind the last field.
            let Some((id, content, after)) = split_extra_field(rest) else {
                let what = format!(
                    "ends with {} bytes that are not a complete extra field",
                    rest.len()
                );
                return Err(self.violation(ArchiveRule::ExtraField, &what));
            };
            // async_zip: `DuplicateExtraFieldHeader`; PyPI: `DISALLOW_DUPLICATE_EXTRA_IDS`.
            if !seen.insert(id) {
                return Err(self.violation(
                    ArchiveRule::ExtraField,
                    &format!("has the extra field {id:#06x} twice"),
                ));
            }
            match id {
                UNICODE_PATH_FIELD => self.check_unicode_path(content)?,
                ZIP64_FIELD if self.kind == HeaderKind::Local => self.check_local_zip64(content)?,
                _ => {}
            }
            rest = after;
        }
        Ok(())
    }

    /// Checks a Unicode Path field: version 1, the CRC-32 of the header's name, and the same name.
    ///
    /// Installers use the name of the field if its CRC-32 matches: pip since Python 3.12
    /// (`CPython`: `ZipInfo._decodeExtra`) for the central header, uv (`async_zip`:
    /// `detect_filename`) for both. They ignore the field if it does not match, but others do not
    /// compare it, and no packing tool writes such a field.
    fn check_unicode_path(&self, content: &[u8]) -> Result<(), WheelError> {
        let violation = |what: String| {
            self.violation(
                ArchiveRule::UnicodePath,
                &format!("has an Info-ZIP Unicode Path field (0x7075) {what}"),
            )
        };
        let Some((head, path)) = content.split_at_checked(UNICODE_PATH_HEAD_BYTES) else {
            return Err(violation(format!(
                "of {} bytes, too few for one",
                content.len()
            )));
        };
        if path != self.name.as_bytes() {
            let path = String::from_utf8_lossy(path);
            return Err(violation(format!("that names `{}`", path.escape_debug())));
        }
        if head[0] != UNICODE_PATH_VERSION {
            return Err(violation(format!(
                "of version {}, but only version 1 is defined",
                head[0]
            )));
        }
        if u32_at(head, 1) != crc32fast::hash(self.raw_name) {
            return Err(violation("whose CRC-32 is not that of the name".to_owned()));
        }
        Ok(())
    }

    /// Checks the length of a local zip64 field, and its sizes if the header does not refer to
    /// them.
    ///
    /// `async_zip` accepts only values that the header refers to, or both sizes if they equal those
    /// of the header (`zip64_extended_information_field_from_bytes`). PyPI accepts a single value
    /// only for stored data.
    fn check_local_zip64(&self, content: &[u8]) -> Result<(), WheelError> {
        let full = self.sizes.iter().filter(|size| **size == FULL_32).count();
        let is_fitting = match content.len() {
            0 => full == 0,
            8 => full == 1 && self.method == CompressionMethod::Stored,
            16 if full == 0 => {
                self.sizes.map(u64::from) == [u64_at(content, 0), u64_at(content, 8)]
            }
            16 => full == 2,
            _ => false,
        };
        if is_fitting {
            return Ok(());
        }
        let what = format!(
            "has a ZIP64 field of {} bytes that does not fit its sizes",
            content.len()
        );
        Err(self.violation(ArchiveRule::ExtraField, &what))
    }

    fn violation(&self, rule: ArchiveRule, what: &str) -> WheelError {
        let kind = match self.kind {
            HeaderKind::Central => "central",
            HeaderKind::Local => "local",
        };
        let reason = format!(
            "the {kind} header of `{}`, at byte {}, {what}",
            self.name, self.offset
        );
        ArchiveViolation {
            rule,
            member: Some(self.name.to_owned()),
            offset: self.offset,
            reason,
        }
        .into()
    }
}

/// Checks the comment of an archive, which starts at `offset`.
///
/// `CPython` searches for the last EOCD, also in the comment (`_EndRecData`); uv uses the first one
/// after the central directory, and refuses these bytes as a sign of another archive in the comment
/// (`ZipInZip`).
pub(super) fn check_comment(comment: &[u8], offset: u64) -> Result<(), WheelError> {
    let violation = |rule, reason| {
        Err(ArchiveViolation {
            rule,
            member: None,
            offset,
            reason,
        }
        .into())
    };
    if comment.len() > MAX_COMMENT_BYTES {
        let reason = format!(
            "the comment of the archive has {} bytes; the limit is {MAX_COMMENT_BYTES}",
            comment.len()
        );
        return violation(ArchiveRule::Limit, reason);
    }
    match comment.iter().position(|byte| RECORD_BYTES.contains(byte)) {
        None => Ok(()),
        Some(at) => {
            let reason = format!(
                "the comment of the archive has the control character {:#04x} at byte {}; other records may hide there",
                comment[at],
                offset + at as u64
            );
            violation(ArchiveRule::ArchiveComment, reason)
        }
    }
}

/// Checks that no path is both a file and a directory. Members must be sorted by name.
///
/// pip and uv cannot write both (`EEXIST`, `ENOTDIR`), so the result would depend on the order.
pub(super) fn check_paths<'m>(
    sorted: impl Iterator<Item = &'m ZipMember>,
) -> Result<(), WheelError> {
    // Files whose names are prefixes of the current one, the shortest first.
    let mut prefixes: Vec<&ZipMember> = Vec::new();
    for member in sorted {
        let name = &member.name;
        while prefixes
            .pop_if(|file| !name.starts_with(&file.name))
            .is_some()
        {}
        if let Some(file) = prefixes
            .iter()
            .find(|file| name.as_bytes().get(file.name.len()) == Some(&b'/'))
        {
            let reason = format!(
                "`{}` is a file, but a directory in the name of `{name}`",
                file.name
            );
            let (member, offset) = (Some(file.name.clone()), file.header_offset);
            return Err(ArchiveViolation {
                rule: ArchiveRule::FileAndDirectory,
                member,
                offset,
                reason,
            }
            .into());
        }
        if !member.is_dir() {
            prefixes.push(member);
        }
    }
    Ok(())
}

/// Checks that members follow each other without gaps from the first byte to the central directory,
/// each with its data descriptor, if any.
///
/// PyPI ("Unknown record signature", "Filename not in central directory") and uv
/// (`UnexpectedHeaderError`, `MissingCentralDirectoryEntry`) read every header from the first byte
/// on; `CPython` reads only those that the central directory refers to.
pub(super) fn check_layout(
    source: &dyn ReadAt,
    members: &[ZipMember],
    directory: u64,
) -> Result<(), WheelError> {
    let mut by_offset: Vec<&ZipMember> = members.iter().collect();
    by_offset.sort_by_key(|member| member.header_offset);
    let first = by_offset
        .first()
        .map_or(directory, |member| member.header_offset);
    check_gap(source, 0, first)?;
    for (at, member) in by_offset.iter().enumerate() {
        let next = by_offset.get(at + 1);
        let end = member.data_offset + member.compressed_bytes;
        let gap_end = next.map_or(directory, |next| next.header_offset);
        if let Some(next) = next.filter(|next| end > next.header_offset) {
            return Err(WheelError::OverlappingMembers {
                first: member.name.clone(),
                second: next.name.clone(),
            });
        }
        if member.flags & FLAG_DESCRIPTOR == 0 {
            check_gap(source, end, gap_end)?;
        } else {
            check_descriptor(source, member, end, gap_end)?;
        }
    }
    Ok(())
}

/// Checks that there are no bytes between two records.
fn check_gap(source: &dyn ReadAt, start: u64, end: u64) -> Result<(), WheelError> {
    if start == end {
        return Ok(());
    }
    let mut signature = [0; 4];
    let is_read = end - start >= 4 && source.read_exact_at(&mut signature, start).is_ok();
    let reason = if is_read && u32_at(&signature, 0) == LOCAL_SIGNATURE {
        format!("a member that the central directory does not list starts at byte {start}")
    } else {
        format!(
            "{} bytes from byte {start} on do not belong to a member",
            end - start
        )
    };
    Err(ArchiveViolation {
        rule: ArchiveRule::HiddenBytes,
        member: None,
        offset: start,
        reason,
    }
    .into())
}

/// Checks the data descriptor between the data of a member and the next record (APPNOTE 4.3.9).
///
/// uv refuses a missing or contradictory one (`MissingDataDescriptor`, `BadCrc32`,
/// `BadCompressedSize`, `BadUncompressedSize`), and expects sizes of eight bytes if the local
/// header has a zip64 field.
fn check_descriptor(
    source: &dyn ReadAt,
    member: &ZipMember,
    start: u64,
    end: u64,
) -> Result<(), WheelError> {
    let violation = |reason: String| {
        let (rule, member) = (ArchiveRule::DescriptorMismatch, Some(member.name.clone()));
        Err(ArchiveViolation {
            rule,
            member,
            offset: start,
            reason,
        }
        .into())
    };
    let size_bytes = if member.has_local_zip64 { 8 } else { 4 };
    let bare_bytes = 4 + 2 * size_bytes;
    let has_signature = end - start == bare_bytes as u64 + 4;
    if !has_signature && end - start != bare_bytes as u64 {
        let found = end - start;
        return violation(format!(
            "the data descriptor of `{}` should have {bare_bytes} bytes, but {found} bytes are in \
             its place, at byte {start}",
            member.name
        ));
    }
    let mut descriptor = vec![0; bare_bytes];
    source
        .read_exact_at(
            &mut descriptor,
            if has_signature { start + 4 } else { start },
        )
        .map_err(WheelError::Read)?;
    let mut signature = [0; 4];
    source
        .read_exact_at(&mut signature, start)
        .map_err(WheelError::Read)?;
    if has_signature != (u32_at(&signature, 0) == DESCRIPTOR_SIGNATURE) {
        return violation(format!(
            "the data descriptor of `{}`, at byte {start}, has no valid signature",
            member.name
        ));
    }
    let size_at = |at| {
        if size_bytes == 8 {
            u64_at(&descriptor, at)
        } else {
            u32_at(&descriptor, at).into()
        }
    };
    let differing = if u32_at(&descriptor, 0) != member.crc32 {
        "CRC-32"
    } else if size_at(4) != member.compressed_bytes {
        "compressed size"
    } else if size_at(4 + size_bytes) != member.size_bytes {
        "size"
    } else {
        return Ok(());
    };
    violation(format!(
        "the data descriptor of `{}`, at byte {start}, has another {differing} than the central \
         directory",
        member.name
    ))
}

/// Returns the violations of a member that can be read unambiguously, and that disappear when it is
/// copied to a new archive.
pub(super) fn removable_violations(member: &ZipMember) -> impl Iterator<Item = ArchiveViolation> {
    // PyPI: "ZIP contains a data descriptor". uv does not read one of stored data.
    let has_descriptor = member.flags & FLAG_DESCRIPTOR != 0;
    let descriptor = has_descriptor.then(|| {
        (
            ArchiveRule::DataDescriptor,
            "has a data descriptor".to_owned(),
        )
    });
    // PyPI: "Comment in central directory".
    let has_comment = !member.comment.is_empty();
    let comment = has_comment.then(|| {
        (
            ArchiveRule::MemberComment,
            format!("has a comment of {} bytes", member.comment.len()),
        )
    });
    descriptor
        .into_iter()
        .chain(comment)
        .map(|(rule, what)| ArchiveViolation {
            rule,
            member: Some(member.name.clone()),
            offset: member.header_offset,
            reason: format!(
                "`{}`, at byte {}, {what}",
                member.name, member.header_offset
            ),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unicode_path(version: u8, crc32: u32, path: &[u8]) -> Vec<u8> {
        let length = u16::try_from(UNICODE_PATH_HEAD_BYTES + path.len()).unwrap();
        [
            &UNICODE_PATH_FIELD.to_le_bytes(),
            &length.to_le_bytes(),
            &[version][..],
            &crc32.to_le_bytes(),
            path,
        ]
        .concat()
    }

    fn check(name: &str, extra: &[u8]) -> Result<(), String> {
        check_as(
            HeaderKind::Central,
            CompressionMethod::Stored,
            [5, 5],
            name,
            extra,
        )
    }

    fn check_as(
        kind: HeaderKind,
        method: CompressionMethod,
        sizes: [u32; 2],
        name: &str,
        extra: &[u8],
    ) -> Result<(), String> {
        let raw_name = name.as_bytes();
        let record = HeaderRecord {
            kind,
            offset: 7,
            version: 20,
            method,
            sizes,
            name,
            raw_name,
            extra,
        };
        record.check().map_err(|error| error.to_string())
    }

    /// The version, the CRC-32 and the name of a Unicode Path field must all be those of its
    /// header.
    #[test]
    fn unicode_path_fields_repeat_the_name() {
        let name = "demo/ü.bin";
        let crc32 = crc32fast::hash(name.as_bytes());
        assert_eq!(
            check(name, &unicode_path(1, crc32, name.as_bytes())),
            Ok(())
        );
        let short = [&UNICODE_PATH_FIELD.to_le_bytes()[..], &[4, 0, 1, 0, 0, 0]].concat();
        let refused: String = [
            unicode_path(1, crc32, b"demo/__init__.py"),
            unicode_path(1, 0, b"demo/__init__.py"),
            unicode_path(1, crc32, b"a\x1b[m\xff"),
            unicode_path(1, crc32, b""),
            unicode_path(2, crc32, name.as_bytes()),
            unicode_path(1, crc32 ^ 1, name.as_bytes()),
            short,
        ]
        .iter()
        .map(|extra| check(name, extra).unwrap_err() + "\n")
        .collect();
        insta::assert_snapshot!(refused, @r"
        the central header of `demo/ü.bin`, at byte 7, has an Info-ZIP Unicode Path field (0x7075) that names `demo/__init__.py`
        the central header of `demo/ü.bin`, at byte 7, has an Info-ZIP Unicode Path field (0x7075) that names `demo/__init__.py`
        the central header of `demo/ü.bin`, at byte 7, has an Info-ZIP Unicode Path field (0x7075) that names `a\u{1b}[m�`
        the central header of `demo/ü.bin`, at byte 7, has an Info-ZIP Unicode Path field (0x7075) that names ``
        the central header of `demo/ü.bin`, at byte 7, has an Info-ZIP Unicode Path field (0x7075) of version 2, but only version 1 is defined
        the central header of `demo/ü.bin`, at byte 7, has an Info-ZIP Unicode Path field (0x7075) whose CRC-32 is not that of the name
        the central header of `demo/ü.bin`, at byte 7, has an Info-ZIP Unicode Path field (0x7075) of 4 bytes, too few for one
        ");
    }

    /// A local ZIP64 field of these values.
    fn zip64(values: &[u64]) -> Vec<u8> {
        let content: Vec<u8> = values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        [
            &ZIP64_FIELD.to_le_bytes(),
            &u16::try_from(content.len()).unwrap().to_le_bytes()[..],
            &content,
        ]
        .concat()
    }

    /// Sizes that no slot asks for are those of the slots, and a single one is that of stored data.
    #[test]
    fn local_zip64_fields_have_the_sizes_that_do_not_fit() {
        let check = |sizes, method, values: &[u64]| {
            check_as(HeaderKind::Local, method, sizes, "a", &zip64(values)).is_ok()
        };
        let (stored, deflated) = (CompressionMethod::Stored, CompressionMethod::Deflated);
        for (sizes, method, values) in [
            ([5, 4], deflated, &[][..]),
            ([5, 4], deflated, &[5, 4]),
            ([FULL_32; 2], deflated, &[9, 8]),
            ([FULL_32, 5], stored, &[5]),
        ] {
            assert!(check(sizes, method, values), "{sizes:?} {values:?}");
        }
        for (sizes, method, values) in [
            ([5, 4], deflated, &[5, 5][..]),
            ([5, 4], deflated, &[5]),
            ([5, 4], deflated, &[5, 4, 0]),
            ([FULL_32, 5], deflated, &[5]),
            ([FULL_32; 2], deflated, &[9]),
            ([FULL_32; 2], stored, &[9, 9, 0]),
            ([FULL_32; 2], deflated, &[]),
        ] {
            assert!(!check(sizes, method, values), "{sizes:?} {values:?}");
        }
    }
}
