//! What new members hold.

use std::borrow::Cow;
use std::io::{self, Read};
use std::ops::Range;

use super::super::WheelError;
use super::splice::{SplicePart, parts};
use super::stretches::stretches;
use super::{CompressionMethod, MemberReader, ZipArchive, ZipMember};
use rock_bytes::{ReadAt, Section};

/// Larger contents are compressed in blocks, in parallel.
pub(super) const LARGE_BYTES: u64 = 8 << 20;
/// Changed contents from this size on: most of their old data is used again.
const LARGE_CHANGED_BYTES: u64 = 256 << 10;
/// What a new member holds.
#[derive(Clone)]
pub enum MemberContent<'c> {
    /// Bytes in memory.
    Bytes(Cow<'c, [u8]>),
    /// Bytes of any number, read once from the first to the last.
    Source(&'c dyn ReadAt),
    /// The content of a member of an archive.
    Member(&'c ZipArchive<'c>, &'c ZipMember),
    /// The content of a member of which little changed: what it was deflated to is used again as
    /// far as it can be.
    Changed(ChangedContent<'c>),
}

/// A deflated member, and the bit of its data that says that it ends.
pub(super) type DeflatedMember<'c> = (&'c ZipArchive<'c>, &'c ZipMember, u64);

/// The content of a member after a change.
#[derive(Clone)]
pub struct ChangedContent<'c> {
    /// The archive that the member is in.
    pub archive: &'c ZipArchive<'c>,
    /// It.
    pub member: &'c ZipMember,
    /// What it holds now; read once from the first to the last byte.
    pub source: &'c dyn ReadAt,
    /// The places that differ, sorted and apart.
    pub changed_ranges: Vec<Range<u64>>,
    /// From here on all differs.
    pub kept_bytes: u64,
}

impl<'c> ChangedContent<'c> {
    /// How the new data is put together: as a whole, where the old data cannot be followed.
    pub(super) fn parts(
        &self,
        level: u32,
    ) -> Result<(Vec<SplicePart>, Option<DeflatedMember<'c>>), WheelError> {
        let (member, size_bytes) = (self.member, self.source.size_bytes());
        if member.method() == CompressionMethod::Deflated && level > 0 {
            let data = member.data_offset..member.data_offset + member.compressed_bytes;
            let old = stretches(self.archive.source(), data, member.size_bytes)
                .map_err(WheelError::Read)?;
            if let Some(old) = old {
                let parts = parts(&old, &self.changed_ranges, self.kept_bytes, size_bytes);
                return Ok((parts, Some((self.archive, member, old.final_bit))));
            }
        }
        Ok((vec![SplicePart::New(size_bytes)], None))
    }
}

impl<'c> MemberContent<'c> {
    /// How many bytes it has.
    pub fn size_bytes(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Source(source) => source.size_bytes(),
            Self::Member(_, member) => member.size_bytes(),
            Self::Changed(changed) => changed.source.size_bytes(),
        }
    }

    /// The bytes, where memory has them.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// From this size on it is written in blocks.
    pub(super) fn block_limit(&self) -> u64 {
        match self {
            Self::Changed(_) => LARGE_CHANGED_BYTES,
            _ => LARGE_BYTES,
        }
    }

    /// All of it.
    pub(super) fn read(self, name: &str) -> Result<Cow<'c, [u8]>, WheelError> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            content => {
                let length =
                    usize::try_from(content.size_bytes()).expect("larger ones are read in blocks");
                let mut opened = content.open();
                let bytes = opened.read_chunk(length, name)?;
                opened.end()?;
                Ok(bytes.into())
            }
        }
    }

    pub(super) fn open(self) -> ContentReader<'c> {
        match self {
            Self::Bytes(bytes) => ContentReader::Bytes(io::Cursor::new(bytes)),
            Self::Source(source) | Self::Changed(ChangedContent { source, .. }) => {
                ContentReader::Section(Section::new(source, 0, source.size_bytes()))
            }
            Self::Member(archive, member) => {
                ContentReader::Member(Box::new(archive.reader(member)))
            }
        }
    }
}

impl From<Vec<u8>> for MemberContent<'_> {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes(bytes.into())
    }
}

impl<'c> From<&'c [u8]> for MemberContent<'c> {
    fn from(bytes: &'c [u8]) -> Self {
        Self::Bytes(bytes.into())
    }
}

impl std::fmt::Debug for MemberContent<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Content({} bytes)", self.size_bytes())
    }
}

/// A content being read from its start.
pub(super) enum ContentReader<'o> {
    Bytes(io::Cursor<Cow<'o, [u8]>>),
    Section(Section<'o>),
    Member(Box<MemberReader<'o>>),
}

impl ContentReader<'_> {
    /// The next `length` bytes.
    pub(super) fn read_chunk(&mut self, length: usize, name: &str) -> Result<Vec<u8>, WheelError> {
        let mut bytes = vec![0; length];
        self.read_exact(&mut bytes, name)?;
        Ok(bytes)
    }

    /// The next bytes, as many as there is room for.
    pub(super) fn read_exact(&mut self, bytes: &mut [u8], name: &str) -> Result<(), WheelError> {
        let fault = |source| WheelError::ReadContent {
            member: name.to_owned(),
            source,
        };
        match self {
            Self::Bytes(rest) => rest.read_exact(bytes).map_err(fault),
            Self::Section(section) => section.read_exact(bytes).map_err(fault),
            Self::Member(reader) => reader
                .read_exact(bytes)
                .map_err(|error| reader.wheel_error(error)),
        }
    }

    /// Checks that nothing follows, and what a member says of its content.
    pub(super) fn end(&mut self) -> Result<(), WheelError> {
        match self {
            Self::Member(reader) => io::copy(reader, &mut io::sink())
                .map(drop)
                .map_err(|error| reader.wheel_error(error)),
            Self::Bytes(_) | Self::Section(_) => Ok(()),
        }
    }
}
