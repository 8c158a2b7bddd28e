//! The bytes of headers.

use super::super::WheelError;
use super::local::LOCAL_SIGNATURE;
use super::{FLAG_DESCRIPTOR, FLAG_UTF8, FULL_16, FULL_32, ZIP64_FIELD, ZipMember};

/// Host 3 is Unix: the upper half of the external attributes is a mode (APPNOTE 4.4.2).
pub(super) const MADE_ON_UNIX: u16 = 3 << 8;
/// Versions of the format that read folders and deflate, and ZIP64 (APPNOTE 4.4.3.2).
const VERSION: u16 = 20;
const VERSION_ZIP64: u16 = 45;

/// How the sizes of a member stand in its local header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SizeEncoding {
    /// In the header itself.
    Plain,
    /// In a ZIP64 field, which has both or is not there (APPNOTE 4.5.3).
    Zip64,
}

impl SizeEncoding {
    /// What these sizes need.
    pub(super) fn of(member: &ZipMember) -> Self {
        let is_wide = |size: u64| size >= FULL_32.into();
        if is_wide(member.size_bytes) || is_wide(member.compressed_bytes) {
            Self::Zip64
        } else {
            Self::Plain
        }
    }
}

/// A local header with its name and extra fields (APPNOTE 4.3.7).
pub(super) fn local_header(
    member: &ZipMember,
    sizes: SizeEncoding,
    extra: &[u8],
) -> Result<Vec<u8>, WheelError> {
    let fields = with_zip64(&wide_sizes(member, sizes), extra);
    let mut header = Vec::with_capacity(64 + member.name.len());
    header.extend(LOCAL_SIGNATURE.to_le_bytes());
    header.extend(version(sizes == SizeEncoding::Zip64).to_le_bytes());
    header.extend(common(member, sizes));
    header.extend(length(member, member.name.as_bytes())?.to_le_bytes());
    header.extend(length(member, &fields)?.to_le_bytes());
    header.extend(member.name.as_bytes());
    header.extend(&fields);
    Ok(header)
}

/// Adds a central header with its name, extra fields and comment (APPNOTE 4.3.12).
pub(super) fn central(
    member: &ZipMember,
    offset: u64,
    extra: &[u8],
    headers: &mut Vec<u8>,
) -> Result<(), WheelError> {
    let sizes = SizeEncoding::of(member);
    let wide_offset = (offset >= FULL_32.into()).then_some(offset);
    let values: Vec<u64> = wide_sizes(member, sizes)
        .into_iter()
        .chain(wide_offset)
        .collect();
    let fields = with_zip64(&values, extra);
    let version = version(!values.is_empty());
    let lengths =
        [member.name.as_bytes(), &fields, &member.comment].map(|part| length(member, part));
    headers.extend(b"PK\x01\x02");
    headers.extend((member.made_by & 0xff00 | version).to_le_bytes());
    headers.extend(version.to_le_bytes());
    headers.extend(common(member, sizes));
    for length in lengths {
        headers.extend(length?.to_le_bytes());
    }
    headers.extend([0; 2]);
    headers.extend(member.internal_attributes.to_le_bytes());
    headers.extend(member.external_attributes.to_le_bytes());
    headers.extend(narrow(offset).to_le_bytes());
    headers.extend(member.name.as_bytes());
    headers.extend(&fields);
    headers.extend(&member.comment);
    Ok(())
}

/// The end record, behind a ZIP64 one where a number needs it (APPNOTE 4.3.14 to 4.3.16).
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
            .map(|value| narrow(value).to_le_bytes())
            .concat(),
    );
    end.extend([0; 2]);
    end
}

/// What both headers have in the middle: flags to sizes.
fn common(member: &ZipMember, sizes: SizeEncoding) -> Vec<u8> {
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
                narrow(size)
            }
            .to_le_bytes(),
        );
    }
    common
}

fn version(has_zip64: bool) -> u16 {
    if has_zip64 { VERSION_ZIP64 } else { VERSION }
}

fn wide_sizes(member: &ZipMember, sizes: SizeEncoding) -> Vec<u64> {
    if sizes == SizeEncoding::Zip64 {
        vec![member.size_bytes, member.compressed_bytes]
    } else {
        Vec::new()
    }
}

fn narrow(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(FULL_32)
}

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

fn length(member: &ZipMember, part: &[u8]) -> Result<u16, WheelError> {
    u16::try_from(part.len()).map_err(|_| WheelError::UnsafeName {
        member: member.name.chars().take(80).collect(),
        reason: "it is longer than a zip header can say",
    })
}
