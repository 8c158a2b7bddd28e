//! The central directory, with one header for each member.

use std::io::{BufReader, Read};

use super::super::WheelError;
use super::archive_rules::{ArchiveRule, ArchiveViolation, HeaderKind, HeaderRecord};
use super::eocd::CentralDirectory;
use super::fields::{extra_fields, u16_at, u32_at, u64_at, without_fields};
use super::limits::{MAX_CENTRAL_BYTES, MAX_DEFLATE_RATIO, MAX_MEMBERS};
use super::member::unsupported_method_name;
use super::name::parse_member_name;
use super::{CompressionMethod, DosTime, FULL_16, FULL_32, ZIP64_FIELD, ZipMember};
use rock_bytes::{RangeReader, ReadAt};

/// Size of a central header without name, extra fields and comment (APPNOTE 4.3.12).
const CENTRAL_BYTES: usize = 46;
/// Size of the read buffer.
const BUFFER_BYTES: usize = 64 << 10;
const CENTRAL_SIGNATURE: u32 = 0x0201_4b50;
/// Flag bits 0, 6 and 13: encryption (APPNOTE 4.4.4).
const FLAGS_ENCRYPTED: u16 = 1 | 1 << 6 | 1 << 13;
/// Flag bit 5: compressed patched data (APPNOTE 4.4.4).
const FLAG_PATCH: u16 = 1 << 5;
/// File type bits of a Unix mode, and their value for symbolic links (`S_IFMT`, `S_IFLNK`).
const TYPE_BITS: u32 = 0o170_000;
const LINK_TYPE: u32 = 0o120_000;

/// Reads the central headers of all members. Local headers are checked by
/// [`check_local_header`](super::local::check_local_header).
pub(super) fn read_central(
    source: &dyn ReadAt,
    end: &CentralDirectory,
) -> Result<Vec<ZipMember>, WheelError> {
    let limits = [
        (end.count, MAX_MEMBERS, "members"),
        (
            end.length,
            MAX_CENTRAL_BYTES,
            "bytes of headers in its central directory",
        ),
    ];
    if let Some((found, limit, what)) = limits.into_iter().find(|(found, limit, _)| found > limit) {
        let reason = format!("the archive has {found} {what}; the limit is {limit}");
        return Err(ArchiveViolation {
            rule: ArchiveRule::Limit,
            member: None,
            offset: end.offset,
            reason,
        }
        .into());
    }
    let capacity = usize::try_from(end.length)
        .unwrap_or(BUFFER_BYTES)
        .clamp(1, BUFFER_BYTES);
    let mut reader =
        BufReader::with_capacity(capacity, RangeReader::new(source, end.offset, end.length));
    let mut left = end.length;
    let most = (end.length / CENTRAL_BYTES as u64).min(end.count);
    let mut members = Vec::with_capacity(usize::try_from(most).unwrap_or_default());
    // Name, extra fields and comment of one header.
    let mut variable = Vec::new();
    for _ in 0..end.count {
        let offset = end.offset + (end.length - left);
        let cut_off = || WheelError::DamagedZip {
            offset,
            reason: "the central directory is truncated here".to_owned(),
        };
        left = left.checked_sub(CENTRAL_BYTES as u64).ok_or_else(cut_off)?;
        let mut fixed = [0; CENTRAL_BYTES];
        reader.read_exact(&mut fixed).map_err(WheelError::Read)?;
        if u32_at(&fixed, 0) != CENTRAL_SIGNATURE {
            return Err(WheelError::DamagedZip {
                offset,
                reason: "expected a member header".to_owned(),
            });
        }
        let lengths = [28, 30, 32].map(|at| usize::from(u16_at(&fixed, at)));
        left = left
            .checked_sub(lengths.iter().sum::<usize>() as u64)
            .ok_or_else(cut_off)?;
        variable.resize(lengths.iter().sum(), 0);
        reader.read_exact(&mut variable).map_err(WheelError::Read)?;
        let (name, rest) = variable.split_at(lengths[0]);
        let (extra, comment) = rest.split_at(lengths[1]);
        members.push(parse_member(&fixed, [name, extra, comment], offset)?);
    }
    if left > 0 {
        let reason = format!("{left} bytes follow the last header of the central directory");
        return Err(WheelError::DamagedZip {
            offset: end.offset + (end.length - left),
            reason,
        });
    }
    Ok(members)
}

fn parse_member(
    fixed: &[u8],
    [raw_name, extra, comment]: [&[u8]; 3],
    offset: u64,
) -> Result<ZipMember, WheelError> {
    let flags = u16_at(fixed, 8);
    let raw_name_bytes = u16_at(fixed, 28);
    let name = parse_member_name(raw_name, flags)?;
    if flags & FLAGS_ENCRYPTED != 0 {
        return Err(WheelError::EncryptedMember { member: name });
    }
    let method_number = u16_at(fixed, 10);
    let method = match CompressionMethod::from_number(method_number) {
        Some(method) if flags & FLAG_PATCH == 0 => method,
        Some(_) => {
            return Err(WheelError::UnsupportedCompression {
                member: name,
                method: "patching".to_owned(),
            });
        }
        None => {
            return Err(WheelError::UnsupportedCompression {
                member: name,
                method: unsupported_method_name(method_number),
            });
        }
    };
    let record = HeaderRecord {
        kind: HeaderKind::Central,
        offset,
        version: u16_at(fixed, 6),
        method,
        sizes: [u32_at(fixed, 24), u32_at(fixed, 20)],
        name: &name,
        raw_name,
        extra,
    };
    record.check()?;
    let damaged = |reason: &str| WheelError::DamagedZip {
        offset,
        reason: format!("{reason} of `{name}`"),
    };
    let zip64 = extra_fields(extra)
        .find(|(id, _)| *id == ZIP64_FIELD)
        .map(|(_, content)| content);
    let mut zip64_extra = Zip64Extra {
        rest: zip64.unwrap_or_default(),
    };
    let size_bytes = zip64_extra
        .take_value(u32_at(fixed, 24))
        .ok_or_else(|| damaged("the ZIP64 field lacks the size"))?;
    let compressed_bytes = zip64_extra
        .take_value(u32_at(fixed, 20))
        .ok_or_else(|| damaged("the ZIP64 field lacks the compressed size"))?;
    let header_offset = zip64_extra
        .take_value(u32_at(fixed, 42))
        .ok_or_else(|| damaged("the ZIP64 field lacks the offset"))?;
    let disk = u16_at(fixed, 34);
    if disk == FULL_16 {
        zip64_extra.rest = zip64_extra
            .rest
            .get(4..)
            .ok_or_else(|| damaged("the ZIP64 field lacks the disk"))?;
    } else if disk != 0 {
        return Err(WheelError::MultiDisk);
    }
    if method == CompressionMethod::Stored && compressed_bytes != size_bytes {
        return Err(damaged("two sizes for the stored data"));
    }
    // The data of members is inside the archive and does not overlap (`check_local_header`,
    // `check_layout`). So the sum of all sizes is at most 1032 times the archive, and fits a u64
    // for archives up to 8 PiB even if each member is counted twice, as read and as written.
    if method == CompressionMethod::Deflated
        && size_bytes > compressed_bytes.saturating_mul(MAX_DEFLATE_RATIO)
    {
        let reason = format!(
            "its header at byte {offset} claims {size_bytes} bytes, more than {compressed_bytes} \
             bytes of deflated data can contain"
        );
        return Err(WheelError::CorruptMember {
            member: name,
            reason,
        });
    }
    // uv's stream.rs: `BadCrc32` and `BadUncompressedSize` of a directory.
    if name.ends_with('/') && (size_bytes > 0 || u32_at(fixed, 16) != 0) {
        return Err(damaged("there is content in the directory entry"));
    }
    let external_attributes = u32_at(fixed, 38);
    if external_attributes >> 16 & TYPE_BITS == LINK_TYPE {
        return Err(WheelError::SymlinkMember { member: name });
    }
    Ok(ZipMember {
        raw_name_bytes,
        method,
        flags,
        crc32: u32_at(fixed, 16),
        compressed_bytes,
        size_bytes,
        header_offset,
        data_offset: 0,
        time: DosTime {
            time: u16_at(fixed, 12),
            date: u16_at(fixed, 14),
        },
        made_by: u16_at(fixed, 4),
        internal_attributes: u16_at(fixed, 36),
        external_attributes,
        extra: without_fields(extra, &[ZIP64_FIELD]).into(),
        comment: comment.into(),
        has_inexact_zip64: !zip64_extra.rest.is_empty(),
        has_local_zip64: false,
        name,
    })
}

/// The zip64 extra field of a header; the values that do not fit the header are taken from it in
/// order (APPNOTE 4.5.3).
pub(super) struct Zip64Extra<'a> {
    pub(super) rest: &'a [u8],
}

impl Zip64Extra<'_> {
    /// Returns the value of a 32-bit header field, taken from the extra field if it is
    /// `0xffffffff`. Returns `None` if the extra field has no more values.
    pub(super) fn take_value(&mut self, value: u32) -> Option<u64> {
        if value != FULL_32 {
            return Some(value.into());
        }
        let value = u64_at(self.rest.get(..8)?, 0);
        self.rest = &self.rest[8..];
        Some(value)
    }
}
