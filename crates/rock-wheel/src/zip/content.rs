//! The content of a new member.

use std::borrow::Cow;
use std::io::{self, Read};
use std::ops::Range;

use super::super::WheelError;
use super::{MemberReader, ZipArchive, ZipMember};
use rock_bytes::{RangeReader, ReadAt};

/// Contents larger than this are compressed in blocks, in parallel.
pub(super) const LARGE_BYTES: u64 = 8 << 20;
/// Changed contents larger than this are spliced in blocks, because most of the old data is copied.
const LARGE_CHANGED_BYTES: u64 = 256 << 10;
/// The content of a new member.
#[derive(Clone)]
pub enum MemberContent<'c> {
    /// Bytes in memory.
    Bytes(Cow<'c, [u8]>),
    /// A source of any size, read once from start to end.
    Source(&'c dyn ReadAt),
    /// The content of a member of another archive, compressed again.
    Member(&'c ZipArchive<'c>, &'c ZipMember),
    /// The content of a member after a small change: blocks of its deflated data are copied where
    /// possible.
    Changed(ChangedContent<'c>),
}

/// The content of a member after a change.
#[derive(Clone)]
pub struct ChangedContent<'c> {
    /// The archive with the old member.
    pub archive: &'c ZipArchive<'c>,
    /// The old member.
    pub member: &'c ZipMember,
    /// The new content, read once from start to end.
    pub source: &'c dyn ReadAt,
    /// The ranges where old and new content differ, sorted and disjoint.
    pub changed_ranges: Vec<Range<u64>>,
    /// Offset from which on old and new content may differ everywhere.
    pub kept_bytes: u64,
}

impl<'c> MemberContent<'c> {
    /// Returns the size of the content.
    pub fn size_bytes(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Source(source) => source.size_bytes(),
            Self::Member(_, member) => member.size_bytes(),
            Self::Changed(changed) => changed.source.size_bytes(),
        }
    }

    /// Returns the bytes if the content is in memory.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// Returns the size above which the content is written in blocks.
    pub(super) fn block_limit(&self) -> u64 {
        match self {
            Self::Changed(_) => LARGE_CHANGED_BYTES,
            _ => LARGE_BYTES,
        }
    }

    /// Reads the whole content. `name` is the member's, for errors.
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
                ContentReader::Section(RangeReader::new(source, 0, source.size_bytes()))
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
        write!(f, "MemberContent({} bytes)", self.size_bytes())
    }
}

/// A reader of a content, from its start.
pub(super) enum ContentReader<'o> {
    Bytes(io::Cursor<Cow<'o, [u8]>>),
    Section(RangeReader<'o>),
    Member(Box<MemberReader<'o>>),
}

impl ContentReader<'_> {
    /// Reads the next `length` bytes.
    pub(super) fn read_chunk(&mut self, length: usize, name: &str) -> Result<Vec<u8>, WheelError> {
        let mut bytes = vec![0; length];
        self.read_exact(&mut bytes, name)?;
        Ok(bytes)
    }

    /// Fills the buffer with the next bytes.
    pub(super) fn read_exact(&mut self, bytes: &mut [u8], name: &str) -> Result<(), WheelError> {
        let read_error = |source| WheelError::ReadContent {
            member: name.to_owned(),
            source,
        };
        match self {
            Self::Bytes(rest) => rest.read_exact(bytes).map_err(read_error),
            Self::Section(section) => section.read_exact(bytes).map_err(read_error),
            Self::Member(reader) => reader
                .read_exact(bytes)
                .map_err(|error| reader.wheel_error(error)),
        }
    }

    /// Checks the size and CRC-32 of a member at its end.
    pub(super) fn end(&mut self) -> Result<(), WheelError> {
        match self {
            Self::Member(reader) => io::copy(reader, &mut io::sink())
                .map(drop)
                .map_err(|error| reader.wheel_error(error)),
            Self::Bytes(_) | Self::Section(_) => Ok(()),
        }
    }
}
