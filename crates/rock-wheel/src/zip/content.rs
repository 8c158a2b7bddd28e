//! What new members hold.

use std::borrow::Cow;
use std::io::{self, Read};
use std::ops::Range;

use super::super::WheelError;
use super::splice::{Part, parts};
use super::stretches::stretches;
use super::{Archive, Member, MemberReader, Method};
use rock_bytes::{ReadAt, Section};

/// Larger contents are compressed in blocks, in parallel.
pub(super) const LARGE_BYTES: u64 = 8 << 20;
/// Changed contents from this size on: most of their old data is used again.
const LARGE_CHANGED_BYTES: u64 = 256 << 10;
/// What a new member holds.
#[derive(Clone)]
pub enum Content<'c> {
    /// Bytes in memory.
    Bytes(Cow<'c, [u8]>),
    /// Bytes of any number, read once from the first to the last.
    Source(&'c dyn ReadAt),
    /// The content of a member of an archive.
    Member(&'c Archive<'c>, &'c Member),
    /// The content of a member of which little changed: what it was deflated to is used again as
    /// far as it can be.
    Changed(Changed<'c>),
}

/// A deflated member, and the bit of its data that says that it ends.
pub(super) type Deflated<'c> = (&'c Archive<'c>, &'c Member, u64);

/// The content of a member after a change.
#[derive(Clone)]
pub struct Changed<'c> {
    /// The archive that the member is in.
    pub archive: &'c Archive<'c>,
    /// It.
    pub member: &'c Member,
    /// What it holds now; read once from the first to the last byte.
    pub source: &'c dyn ReadAt,
    /// The places that differ, sorted and apart.
    pub places: Vec<Range<u64>>,
    /// From here on all differs.
    pub kept_bytes: u64,
}

impl<'c> Changed<'c> {
    /// How the new data is put together: as a whole, where the old data cannot be followed.
    pub(super) fn parts(
        &self,
        level: u32,
    ) -> Result<(Vec<Part>, Option<Deflated<'c>>), WheelError> {
        let (member, size_bytes) = (self.member, self.source.size_bytes());
        if member.method() == Method::Deflated && level > 0 {
            let data = member.data_offset..member.data_offset + member.compressed_bytes;
            let old = stretches(self.archive.source(), data, member.size_bytes)
                .map_err(WheelError::Read)?;
            if let Some(old) = old {
                let parts = parts(&old, &self.places, self.kept_bytes, size_bytes);
                return Ok((parts, Some((self.archive, member, old.last_mark))));
            }
        }
        Ok((vec![Part::New(size_bytes)], None))
    }
}

impl<'c> Content<'c> {
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
    pub fn in_memory(&self) -> Option<&[u8]> {
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
                let bytes = opened.take(length, name)?;
                opened.end()?;
                Ok(bytes.into())
            }
        }
    }

    pub(super) fn open(self) -> Opened<'c> {
        match self {
            Self::Bytes(bytes) => Opened::Bytes(io::Cursor::new(bytes)),
            Self::Source(source) | Self::Changed(Changed { source, .. }) => {
                Opened::Section(Section::new(source, 0, source.size_bytes()))
            }
            Self::Member(archive, member) => Opened::Member(Box::new(archive.reader(member))),
        }
    }
}

impl From<Vec<u8>> for Content<'_> {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes(bytes.into())
    }
}

impl<'c> From<&'c [u8]> for Content<'c> {
    fn from(bytes: &'c [u8]) -> Self {
        Self::Bytes(bytes.into())
    }
}

impl std::fmt::Debug for Content<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Content({} bytes)", self.size_bytes())
    }
}

/// A content being read from its start.
pub(super) enum Opened<'o> {
    Bytes(io::Cursor<Cow<'o, [u8]>>),
    Section(Section<'o>),
    Member(Box<MemberReader<'o>>),
}

impl Opened<'_> {
    /// The next `length` bytes.
    pub(super) fn take(&mut self, length: usize, name: &str) -> Result<Vec<u8>, WheelError> {
        let mut bytes = vec![0; length];
        self.fill(&mut bytes, name)?;
        Ok(bytes)
    }

    /// The next bytes, as many as there is room for.
    pub(super) fn fill(&mut self, bytes: &mut [u8], name: &str) -> Result<(), WheelError> {
        let fault = |source| WheelError::ReadContent {
            member: name.to_owned(),
            source,
        };
        match self {
            Self::Bytes(rest) => rest.read_exact(bytes).map_err(fault),
            Self::Section(section) => section.read_exact(bytes).map_err(fault),
            Self::Member(reader) => reader
                .read_exact(bytes)
                .map_err(|error| reader.fault(error)),
        }
    }

    /// Checks that nothing follows, and what a member says of its content.
    pub(super) fn end(&mut self) -> Result<(), WheelError> {
        match self {
            Self::Member(reader) => io::copy(reader, &mut io::sink())
                .map(drop)
                .map_err(|error| reader.fault(error)),
            Self::Bytes(_) | Self::Section(_) => Ok(()),
        }
    }
}
