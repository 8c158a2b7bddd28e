//! Writing an archive, from the first member to the end record.

use std::io::{ErrorKind, Write};

use flate2::Compression;
use flate2::write::DeflateEncoder;

use super::super::{Target, WheelError};
use super::bytes::without_fields;
use super::local::{LOCAL_SIGNATURE, local_extra};
use super::{Archive, DosTime, FLAG_DESCRIPTOR, FLAG_UTF8, FULL_16, FULL_32, Member, Method, ZIP64_FIELD};

/// Host 3 is Unix: the upper half of the external attributes is a mode (APPNOTE 4.4.2).
const MADE_ON_UNIX: u16 = 3 << 8;
/// Versions of the format that read folders and deflate, and ZIP64 (APPNOTE 4.4.3.2).
const VERSION: u16 = 20;
const VERSION_ZIP64: u16 = 45;
/// A second name in UTF-8, void when the name changes (Info-ZIP Unicode Path, APPNOTE 4.6.9).
const UNICODE_PATH_FIELD: u16 = 0x7075;

/// How a new member is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewMember {
    /// Type and permission bits of Unix.
    pub unix_mode: u32,
    /// When it was changed.
    pub time: DosTime,
    /// 0 stores, 1 to 9 deflates ever harder.
    pub level: u32,
}

impl Default for NewMember {
    /// A regular file that all may read, of 1980-01-01, deflated at level 6.
    fn default() -> Self {
        Self { unix_mode: 0o100_644, time: DosTime::FIRST, level: 6 }
    }
}

/// Writes members one after the other, and the table of contents at the end.
///
/// Sizes are known before a header is written, so there are no data descriptors, and ZIP64 fields stand only where a
/// value needs them.
pub struct ZipWriter<'t> {
    target: &'t mut dyn Target,
    position: u64,
    central: Vec<u8>,
    count: u64,
}

impl<'t> ZipWriter<'t> {
    /// An archive that begins at the target's present position.
    pub fn new(target: &'t mut dyn Target) -> Self {
        Self { target, position: 0, central: Vec::new(), count: 0 }
    }

    /// Copies a member with its compressed bytes as they are, under this name and time.
    ///
    /// # Errors
    /// When the archive cannot be read or the target not be written.
    pub fn copy(
        &mut self,
        archive: &Archive<'_>,
        member: &Member,
        name: &str,
        time: DosTime,
    ) -> Result<(), WheelError> {
        let mut extras = [local_extra(archive.source(), member)?, member.extra.to_vec()];
        if name != member.name {
            extras = extras.map(|extra| without_fields(&extra, &[UNICODE_PATH_FIELD]));
        }
        let copied = Member { name: name.to_owned(), time, ..member.clone() };
        self.header(&copied, &extras)?;
        self.target.copy_from(archive.source(), member.data_offset, member.compressed_bytes).map_err(|error| {
            match error.kind() {
                ErrorKind::UnexpectedEof => WheelError::Read(error),
                _ => WheelError::Write(error),
            }
        })?;
        self.position += member.compressed_bytes;
        Ok(())
    }

    /// Adds a member out of memory.
    ///
    /// # Errors
    /// When the target cannot be written.
    pub fn add(&mut self, name: &str, content: &[u8], options: &NewMember) -> Result<(), WheelError> {
        let deflated =
            if options.level == 0 { None } else { deflate(content, options.level).map_err(WheelError::Write)? };
        let data = deflated.as_deref().unwrap_or(content);
        let member = Member {
            name: name.to_owned(),
            raw_name_bytes: 0,
            method: if deflated.is_some() { Method::Deflated } else { Method::Stored },
            flags: 0,
            crc32: crc32fast::hash(content),
            compressed_bytes: data.len() as u64,
            size_bytes: content.len() as u64,
            header_offset: 0,
            data_offset: 0,
            time: options.time,
            made_by: MADE_ON_UNIX,
            internal_attributes: 0,
            external_attributes: options.unix_mode << 16,
            extra: Box::default(),
            comment: Box::default(),
            has_inexact_zip64: false,
        };
        self.header(&member, &[Vec::new(), Vec::new()])?;
        self.target.write_all(data).map_err(WheelError::Write)?;
        self.position += data.len() as u64;
        Ok(())
    }

    /// Writes the table of contents and the end record, and tells how many bytes the archive has.
    ///
    /// # Errors
    /// When the target cannot be written.
    pub fn finish(self) -> Result<u64, WheelError> {
        let (offset, length) = (self.position, self.central.len() as u64);
        let mut end = Vec::new();
        if self.count >= FULL_16.into() || length >= FULL_32.into() || offset >= FULL_32.into() {
            end.extend(b"PK\x06\x06");
            end.extend(44_u64.to_le_bytes());
            for version in [MADE_ON_UNIX | VERSION_ZIP64, VERSION_ZIP64] {
                end.extend(version.to_le_bytes());
            }
            end.extend([0; 8]);
            for value in [self.count, self.count, length, offset] {
                end.extend(value.to_le_bytes());
            }
            end.extend(b"PK\x06\x07\0\0\0\0");
            end.extend((offset + length).to_le_bytes());
            end.extend(1_u32.to_le_bytes());
        }
        end.extend(b"PK\x05\x06\0\0\0\0");
        let count = u16::try_from(self.count).unwrap_or(FULL_16);
        end.extend([count, count].map(u16::to_le_bytes).concat());
        end.extend([length, offset].map(|value| narrow(value).to_le_bytes()).concat());
        end.extend([0; 2]);
        self.target.write_all(&self.central).map_err(WheelError::Write)?;
        self.target.write_all(&end).map_err(WheelError::Write)?;
        Ok(offset + length + end.len() as u64)
    }

    /// Writes the local header of a member, and notes the central one.
    fn header(&mut self, member: &Member, [local_extra, central_extra]: &[Vec<u8>; 2]) -> Result<(), WheelError> {
        let sizes = [member.compressed_bytes, member.size_bytes];
        let has_wide_size = sizes.iter().any(|size| *size >= FULL_32.into());
        let has_wide_offset = self.position >= FULL_32.into();
        let version = if has_wide_size || has_wide_offset { VERSION_ZIP64 } else { VERSION };
        let flags = member.flags & !(FLAG_DESCRIPTOR | FLAG_UTF8) | if member.name.is_ascii() { 0 } else { FLAG_UTF8 };
        let mut common = Vec::with_capacity(22);
        for value in [flags, member.method.number(), member.time.time, member.time.date] {
            common.extend(value.to_le_bytes());
        }
        common.extend(member.crc32.to_le_bytes());
        let slots = if has_wide_size { sizes.map(|_| FULL_32) } else { sizes.map(narrow) };
        common.extend(slots.map(u32::to_le_bytes).concat());
        let name_length = u16::try_from(member.name.len()).map_err(|_| too_long(&member.name))?;

        // A local ZIP64 field has both sizes or is not there (APPNOTE 4.5.3); the central one gets both too, then.
        let wide_sizes: Vec<u64> = if has_wide_size { vec![sizes[1], sizes[0]] } else { Vec::new() };
        let local_fields = with_zip64(&wide_sizes, local_extra);
        let mut header = Vec::with_capacity(64 + member.name.len());
        header.extend(LOCAL_SIGNATURE.to_le_bytes());
        header.extend(version.to_le_bytes());
        header.extend(&common);
        header.extend(name_length.to_le_bytes());
        header.extend(field_length(&local_fields, member)?.to_le_bytes());
        header.extend(member.name.as_bytes());
        header.extend(&local_fields);
        self.target.write_all(&header).map_err(WheelError::Write)?;

        let offset = has_wide_offset.then_some(self.position);
        let central_fields = with_zip64(&wide_sizes.iter().copied().chain(offset).collect::<Vec<_>>(), central_extra);
        let central = &mut self.central;
        central.extend(b"PK\x01\x02");
        central.extend((member.made_by & 0xff00 | version).to_le_bytes());
        central.extend(version.to_le_bytes());
        central.extend(&common);
        central.extend(name_length.to_le_bytes());
        central.extend(field_length(&central_fields, member)?.to_le_bytes());
        central.extend(u16::try_from(member.comment.len()).map_err(|_| too_long(&member.name))?.to_le_bytes());
        central.extend([0; 2]);
        central.extend(member.internal_attributes.to_le_bytes());
        central.extend(member.external_attributes.to_le_bytes());
        central.extend(narrow(self.position).to_le_bytes());
        central.extend(member.name.as_bytes());
        central.extend(&central_fields);
        central.extend(&member.comment);
        self.position += header.len() as u64;
        self.count += 1;
        Ok(())
    }
}

impl std::fmt::Debug for ZipWriter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ZipWriter({} members, {} bytes)", self.count, self.position)
    }
}

/// The deflated content, or `None` where that is not shorter.
fn deflate(content: &[u8], level: u32) -> std::io::Result<Option<Vec<u8>>> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::new(level.min(9)));
    encoder.write_all(content)?;
    let deflated = encoder.finish()?;
    Ok((deflated.len() < content.len()).then_some(deflated))
}

fn narrow(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(FULL_32)
}

fn with_zip64(values: &[u64], others: &[u8]) -> Vec<u8> {
    let mut fields = Vec::new();
    if !values.is_empty() {
        fields.extend(ZIP64_FIELD.to_le_bytes());
        fields.extend(u16::try_from(values.len() * 8).expect("at most three values").to_le_bytes());
        for value in values {
            fields.extend(value.to_le_bytes());
        }
    }
    fields.extend(others);
    fields
}

fn field_length(fields: &[u8], member: &Member) -> Result<u16, WheelError> {
    u16::try_from(fields.len()).map_err(|_| too_long(&member.name))
}

fn too_long(name: &str) -> WheelError {
    WheelError::UnsafeName { member: name.chars().take(80).collect(), reason: "it is longer than a zip header can say" }
}
