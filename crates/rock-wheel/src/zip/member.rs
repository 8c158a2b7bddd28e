//! One member of an archive.

use super::DosTime;

/// How the data of a member is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompressionMethod {
    /// As it is.
    Stored,
    /// Deflated.
    Deflated,
}

impl CompressionMethod {
    /// The number in headers (APPNOTE 4.4.5).
    pub(super) fn number(self) -> u16 {
        match self {
            Self::Stored => 0,
            Self::Deflated => 8,
        }
    }

    pub(super) fn from_number(number: u16) -> Result<Self, String> {
        Err(match number {
            0 => return Ok(Self::Stored),
            8 => return Ok(Self::Deflated),
            9 => "Deflate64".to_owned(),
            12 => "bzip2".to_owned(),
            14 => "LZMA".to_owned(),
            20 | 93 => "Zstandard".to_owned(),
            95 => "XZ".to_owned(),
            other => format!("method {other}"),
        })
    }
}

/// A file or folder in an archive, as both of its headers describe it.
#[derive(Debug, Clone)]
pub struct ZipMember {
    pub(super) name: String,
    /// How many bytes its name takes in the headers.
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
    /// Whether its local header has a ZIP64 field, so that its data descriptor has sizes of eight
    /// bytes.
    pub(super) has_local_zip64: bool,
}

impl ZipMember {
    /// The path in the archive; folders end with `/`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is a folder.
    pub fn is_dir(&self) -> bool {
        self.name.ends_with('/')
    }

    /// The size of the content.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// How much of the archive its data takes.
    pub fn compressed_bytes(&self) -> u64 {
        self.compressed_bytes
    }

    /// How it is stored.
    pub fn method(&self) -> CompressionMethod {
        self.method
    }

    /// CRC-32 of the content.
    pub fn crc32(&self) -> u32 {
        self.crc32
    }

    /// Type and permission bits of Unix; 0 where none were written.
    pub fn unix_mode(&self) -> u32 {
        self.external_attributes >> 16
    }

    /// When it was changed, as written.
    pub fn time(&self) -> DosTime {
        self.time
    }

    /// Whether its ZIP64 field holds more than the values that need it.
    pub fn has_inexact_zip64(&self) -> bool {
        self.has_inexact_zip64
    }
}
