//! Local file headers, in front of each member's data.

use super::super::WheelError;
use super::archive_rules::{HeaderKind, HeaderRecord};
use super::central::Zip64Extra;
use super::fields::{extra_fields, u16_at, u32_at, without_fields};
use super::{FLAG_DESCRIPTOR, FLAG_UTF8, ZIP64_FIELD, ZipMember};
use rock_bytes::ReadAt;

/// Size of a local file header without name and extra fields (APPNOTE 4.3.7).
pub(super) const LOCAL_BYTES: usize = 30;
pub(super) const LOCAL_SIGNATURE: u32 = 0x0403_4b50;

/// Compares the local file header of a member with its central one, and sets the data offset.
///
/// `end` is the offset of the central directory, where all data must end.
pub(super) fn check_local_header(
    source: &dyn ReadAt,
    member: &mut ZipMember,
    end: u64,
) -> Result<(), WheelError> {
    let offset = member.header_offset;
    let damaged = |reason: String| WheelError::DamagedZip { offset, reason };
    let length = LOCAL_BYTES + usize::from(member.raw_name_bytes);
    if offset
        .checked_add(length as u64)
        .is_none_or(|header_end| header_end > end)
    {
        return Err(damaged(format!(
            "the header of `{}` is recorded here, where no member can be",
            member.name
        )));
    }
    let mut header = vec![0; length];
    source
        .read_exact_at(&mut header, offset)
        .map_err(WheelError::Read)?;
    if u32_at(&header, 0) != LOCAL_SIGNATURE {
        return Err(damaged(format!(
            "the header of `{}` is recorded here, but there is no member header",
            member.name
        )));
    }
    let differs = |what| WheelError::HeaderMismatch {
        member: member.name.clone(),
        what,
    };
    let flags = u16_at(&header, 6);
    let raw_name = &header[LOCAL_BYTES..];
    let name = super::name::parse_member_name(raw_name, flags).map_err(|_| differs("name"))?;
    if u16_at(&header, 26) != member.raw_name_bytes || name != member.name {
        return Err(differs("name"));
    }
    if u16_at(&header, 8) != member.method.number() {
        return Err(differs("compression"));
    }
    // Compression level hints, and the UTF-8 flag of an ASCII name, have no effect.
    let meaningful = !(FLAG_UTF8 | 0b110);
    if (flags ^ member.flags) & meaningful != 0 {
        return Err(differs("flags"));
    }
    let extra_length = u16_at(&header, 28);
    let data_offset = offset + length as u64 + u64::from(extra_length);
    if data_offset
        .checked_add(member.compressed_bytes)
        .is_none_or(|data_end| data_end > end)
    {
        return Err(damaged(format!(
            "the data of `{}` extends into the central directory",
            member.name
        )));
    }
    let sizes = [u32_at(&header, 22), u32_at(&header, 18)];
    let extra = match extra_length {
        0 => Vec::new(),
        _ => read_extra(source, offset + length as u64, extra_length)?,
    };
    let record = HeaderRecord {
        kind: HeaderKind::Local,
        offset,
        version: u16_at(&header, 4),
        method: member.method,
        sizes,
        name: &name,
        raw_name,
        extra: &extra,
    };
    record.check()?;
    let zip64 = extra_fields(&extra)
        .find(|(id, _)| *id == ZIP64_FIELD)
        .map(|(_, content)| content);
    let mut zip64_extra = Zip64Extra {
        rest: zip64.unwrap_or_default(),
    };
    let [size, compressed] = sizes.map(|size| zip64_extra.take_value(size));
    let has_descriptor = flags & FLAG_DESCRIPTOR != 0;
    let fits = |value: Option<u64>, expected| {
        value == Some(expected) || (has_descriptor && value.unwrap_or(0) == 0)
    };
    if !fits(size, member.size_bytes) || !fits(compressed, member.compressed_bytes) {
        return Err(differs("size"));
    }
    if !fits(Some(u32_at(&header, 14).into()), member.crc32.into()) {
        return Err(differs("CRC-32"));
    }
    member.has_local_zip64 = zip64.is_some();
    member.data_offset = data_offset;
    Ok(())
}

/// Reads the extra fields of a member's local file header, without zip64.
pub(super) fn local_extra(source: &dyn ReadAt, member: &ZipMember) -> Result<Vec<u8>, WheelError> {
    let mut fixed = [0; LOCAL_BYTES];
    source
        .read_exact_at(&mut fixed, member.header_offset)
        .map_err(WheelError::Read)?;
    let name_length = u64::from(u16_at(&fixed, 26));
    let extra = read_extra(
        source,
        member.header_offset + LOCAL_BYTES as u64 + name_length,
        u16_at(&fixed, 28),
    )?;
    Ok(without_fields(&extra, &[ZIP64_FIELD]))
}

fn read_extra(source: &dyn ReadAt, offset: u64, length: u16) -> Result<Vec<u8>, WheelError> {
    let mut extra = vec![0; usize::from(length)];
    source
        .read_exact_at(&mut extra, offset)
        .map_err(WheelError::Read)?;
    Ok(extra)
}
