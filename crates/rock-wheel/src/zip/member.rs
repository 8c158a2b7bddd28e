//! A member of an archive.

use super::DosTime;

/// The compression method of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompressionMethod {
    /// Not compressed.
    Stored,
    /// Compressed with DEFLATE (RFC 1951).
    Deflated,
}

impl CompressionMethod {
    /// Returns the number in headers (APPNOTE 4.4.5).
    pub(super) fn number(self) -> u16 {
        match self {
            Self::Stored => 0,
            Self::Deflated => 8,
        }
    }

    /// Returns the method with this number, unless wheels must not use it.
    pub(super) fn from_number(number: u16) -> Option<Self> {
        match number {
            0 => Some(Self::Stored),
            8 => Some(Self::Deflated),
            _ => None,
        }
    }
}

/// Returns the name of a compression method that wheels must not use (APPNOTE 4.4.5).
pub(super) fn unsupported_method_name(number: u16) -> String {
    match number {
        9 => "Deflate64".to_owned(),
        12 => "bzip2".to_owned(),
        14 => "LZMA".to_owned(),
        20 | 93 => "Zstandard".to_owned(),
        95 => "XZ".to_owned(),
        other => format!("method {other}"),
    }
}

/// A file or directory in an archive, as described by both of its headers.
#[derive(Debug, Clone)]
pub struct ZipMember {
    pub(super) name: String,
    /// Size of the name in the headers.
    pub(super) raw_name_bytes: u16,
    pub(super) method: CompressionMethod,
    pub(super) flags: u16,
    pub(super) crc32: u32,
    pub(super) compressed_bytes: u64,
    pub(super) size_bytes: u64,
    pub(super) header_offset: u64,
    pub(super) data_offset: u64,
    pub(super) time: DosTime,
    pub(super) made_by: u16,
    pub(super) internal_attributes: u16,
    pub(super) external_attributes: u32,
    pub(super) extra: Box<[u8]>,
    pub(super) comment: Box<[u8]>,
    pub(super) has_inexact_zip64: bool,
    /// Whether the local header has a zip64 extra field, so that a data descriptor has sizes of
    /// eight bytes.
    pub(super) has_local_zip64: bool,
}

impl ZipMember {
    /// Returns the path in the archive. Directories end with `/`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns whether it is a directory.
    pub fn is_dir(&self) -> bool {
        self.name.ends_with('/')
    }

    /// Returns the size of the content.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Returns the size of the data in the archive.
    pub fn compressed_bytes(&self) -> u64 {
        self.compressed_bytes
    }

    /// Returns the compression method.
    pub fn method(&self) -> CompressionMethod {
        self.method
    }

    /// Returns the CRC-32 of the content.
    pub fn crc32(&self) -> u32 {
        self.crc32
    }

    /// Returns the Unix file type and permissions, or 0 if the archive has none.
    pub fn unix_mode(&self) -> u32 {
        self.external_attributes >> 16
    }

    /// Returns the modification time.
    pub fn time(&self) -> DosTime {
        self.time
    }

    /// Returns whether its zip64 extra field has more than the values that need it.
    pub fn has_inexact_zip64(&self) -> bool {
        self.has_inexact_zip64
    }
}
