//! Serialization of headers.

use super::super::WheelError;
use super::local::LOCAL_SIGNATURE;
use super::{FLAG_DESCRIPTOR, FLAG_UTF8, FULL_16, FULL_32, ZIP64_FIELD, ZipMember};

/// "Version made by" with host 3, Unix: the upper half of the external attributes is a mode
/// (APPNOTE 4.4.2).
pub(super) const MADE_ON_UNIX: u16 = 3 << 8;
/// Format versions needed for directories and DEFLATE, and for zip64 (APPNOTE 4.4.3.2).
const VERSION: u16 = 20;
const VERSION_ZIP64: u16 = 45;

/// The encoding of a member's sizes in its headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SizeEncoding {
    /// In the 32-bit header fields.
    Plain,
    /// Both in a zip64 extra field (APPNOTE 4.5.3).
    Zip64,
}

impl SizeEncoding {
    /// Returns the encoding that the sizes of a member need.
    pub(super) fn of(member: &ZipMember) -> Self {
        let needs_zip64 = |size: u64| size >= FULL_32.into();
        if needs_zip64(member.size_bytes) || needs_zip64(member.compressed_bytes) {
            Self::Zip64
        } else {
            Self::Plain
        }
    }
}

/// Serializes a local file header with name and extra fields (APPNOTE 4.3.7).
pub(super) fn local_header(
    member: &ZipMember,
    sizes: SizeEncoding,
    extra: &[u8],
) -> Result<Vec<u8>, WheelError> {
    let fields = with_zip64(&zip64_sizes(member, sizes), extra);
    let mut header = Vec::with_capacity(64 + member.name.len());
    header.extend(LOCAL_SIGNATURE.to_le_bytes());
    header.extend(version(sizes == SizeEncoding::Zip64).to_le_bytes());
    header.extend(common_fields(member, sizes));
    header.extend(field_length(member, member.name.as_bytes())?.to_le_bytes());
    header.extend(field_length(member, &fields)?.to_le_bytes());
    header.extend(member.name.as_bytes());
    header.extend(&fields);
    Ok(header)
}

/// Serializes a central header with name, extra fields and comment (APPNOTE 4.3.12).
pub(super) fn central_header(
    member: &ZipMember,
    offset: u64,
    extra: &[u8],
) -> Result<Vec<u8>, WheelError> {
    let sizes = SizeEncoding::of(member);
    let zip64_offset = (offset >= FULL_32.into()).then_some(offset);
    let values: Vec<u64> = zip64_sizes(member, sizes)
        .into_iter()
        .chain(zip64_offset)
        .collect();
    let fields = with_zip64(&values, extra);
    let version = version(!values.is_empty());
    let name_length = field_length(member, member.name.as_bytes())?;
    let extra_length = field_length(member, &fields)?;
    let comment_length = field_length(member, &member.comment)?;
    let mut header = Vec::with_capacity(64 + member.name.len());
    header.extend(b"PK\x01\x02");
    header.extend((member.made_by & 0xff00 | version).to_le_bytes());
    header.extend(version.to_le_bytes());
    header.extend(common_fields(member, sizes));
    header.extend(name_length.to_le_bytes());
    header.extend(extra_length.to_le_bytes());
    header.extend(comment_length.to_le_bytes());
    header.extend([0; 2]);
    header.extend(member.internal_attributes.to_le_bytes());
    header.extend(member.external_attributes.to_le_bytes());
    header.extend(clamp_to_32_bits(offset).to_le_bytes());
    header.extend(member.name.as_bytes());
    header.extend(&fields);
    header.extend(&member.comment);
    Ok(header)
}

/// Serializes the EOCD, after a zip64 EOCD and locator if a number needs them (APPNOTE 4.3.14 to
/// 4.3.16).
pub(super) fn end_records(count: u64, offset: u64, length: u64) -> Vec<u8> {
    let mut end = Vec::new();
    if count >= FULL_16.into() || length >= FULL_32.into() || offset >= FULL_32.into() {
        end.extend(b"PK\x06\x06");
        end.extend(44_u64.to_le_bytes());
        for version in [MADE_ON_UNIX | VERSION_ZIP64, VERSION_ZIP64] {
            end.extend(version.to_le_bytes());
        }
        end.extend([0; 8]);
        for value in [count, count, length, offset] {
            end.extend(value.to_le_bytes());
        }
        end.extend(b"PK\x06\x07\0\0\0\0");
        end.extend((offset + length).to_le_bytes());
        end.extend(1_u32.to_le_bytes());
    }
    end.extend(b"PK\x05\x06\0\0\0\0");
    let count = u16::try_from(count).unwrap_or(FULL_16);
    end.extend([count, count].map(u16::to_le_bytes).concat());
    end.extend(
        [length, offset]
            .map(|value| clamp_to_32_bits(value).to_le_bytes())
            .concat(),
    );
    end.extend([0; 2]);
    end
}

/// Serializes the fields that both headers share, from flags to sizes.
fn common_fields(member: &ZipMember, sizes: SizeEncoding) -> Vec<u8> {
    let flags = member.flags & !(FLAG_DESCRIPTOR | FLAG_UTF8)
        | if member.name.is_ascii() { 0 } else { FLAG_UTF8 };
    let mut common = Vec::with_capacity(20);
    for value in [
        flags,
        member.method.number(),
        member.time.time,
        member.time.date,
    ] {
        common.extend(value.to_le_bytes());
    }
    common.extend(member.crc32.to_le_bytes());
    for size in [member.compressed_bytes, member.size_bytes] {
        common.extend(
            if sizes == SizeEncoding::Zip64 {
                FULL_32
            } else {
                clamp_to_32_bits(size)
            }
            .to_le_bytes(),
        );
    }
    common
}

fn version(has_zip64: bool) -> u16 {
    if has_zip64 { VERSION_ZIP64 } else { VERSION }
}

/// Returns the sizes for the zip64 field: none, or both.
fn zip64_sizes(member: &ZipMember, sizes: SizeEncoding) -> Vec<u64> {
    if sizes == SizeEncoding::Zip64 {
        vec![member.size_bytes, member.compressed_bytes]
    } else {
        Vec::new()
    }
}

/// Returns the value, or [`FULL_32`] if it does not fit.
fn clamp_to_32_bits(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(FULL_32)
}

/// Returns extra fields with a zip64 field in front, if there are values for one.
fn with_zip64(values: &[u64], others: &[u8]) -> Vec<u8> {
    let mut fields = Vec::new();
    if !values.is_empty() {
        fields.extend(ZIP64_FIELD.to_le_bytes());
        fields.extend(
            u16::try_from(values.len() * 8)
                .expect("at most three values")
                .to_le_bytes(),
        );
        for value in values {
            fields.extend(value.to_le_bytes());
        }
    }
    fields.extend(others);
    fields
}

/// Returns the length of a name, comment or extra fields.
fn field_length(member: &ZipMember, part: &[u8]) -> Result<u16, WheelError> {
    u16::try_from(part.len()).map_err(|_| WheelError::UnsafeName {
        member: member.name.chars().take(80).collect(),
        reason: "it is longer than a zip header can record",
    })
}
