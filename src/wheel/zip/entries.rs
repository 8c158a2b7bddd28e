//! Writing many members, compressed in parallel and written in order.

use std::borrow::Cow;
use std::io::{self, Read};
use std::ops::Range;

use sha2::{Digest as _, Sha256};

use super::super::WheelError;
use super::super::in_order::{Room, Step, in_order};
use super::deflate::{self, Place, WINDOW_BYTES};
use super::splice::{CopyError, Part, Seam, parts};
use super::stretches::stretches;
use super::write::{Begun, Packed};
use super::{Archive, DosTime, Member, MemberReader, Method, NewMember, ZipWriter};
use crate::bytes::{ReadAt, Section};
use crate::names::Digest;

/// Larger contents are compressed in blocks, in parallel.
const LARGE_BYTES: u64 = 8 << 20;
/// Changed contents from this size on: most of their old data is used again.
const LARGE_CHANGED_BYTES: u64 = 256 << 10;
/// How much of a content a block has. What it could not refer back to without a dictionary costs less than a
/// thousandth; ending at a whole byte costs five bytes.
const BLOCK_BYTES: usize = 1 << 20;
/// What deflating holds beside content and result: of libdeflate about 900 KiB, of zlib 256 KiB (zconf.h, "memory
/// requirements").
const DEFLATE_BYTES: u64 = 1 << 20;
/// Smaller contents in memory are compressed at once: a thread would take longer to hear of them.
const SMALL_BYTES: usize = 64 << 10;
/// What each thread may hold: the largest content that is compressed as a whole, its result, and the next.
const THREAD_BYTES: u64 = 3 * LARGE_BYTES;
/// What all of them may hold.
const ALL_BYTES: u64 = 256 << 20;

/// What a new member holds.
#[derive(Clone)]
pub enum Content<'c> {
    /// Bytes in memory.
    Bytes(Cow<'c, [u8]>),
    /// Bytes of any number, read once from the first to the last.
    Source(&'c dyn ReadAt),
    /// The content of a member of an archive.
    Member(&'c Archive<'c>, &'c Member),
    /// The content of a member of which little changed: what it was deflated to is used again as far as it can be.
    Changed(Changed<'c>),
}

/// A deflated member, and the bit of its data that says that it ends.
type Deflated<'c> = (&'c Archive<'c>, &'c Member, u64);

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
    fn parts(&self, level: u32) -> Result<(Vec<Part>, Option<Deflated<'c>>), WheelError> {
        let (member, size_bytes) = (self.member, self.source.size_bytes());
        if member.method() == Method::Deflated && level > 0 {
            let data = member.data_offset..member.data_offset + member.compressed_bytes;
            let old = stretches(self.archive.source(), data, member.size_bytes).map_err(WheelError::Read)?;
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
    fn block_limit(&self) -> u64 {
        match self {
            Self::Changed(_) => LARGE_CHANGED_BYTES,
            _ => LARGE_BYTES,
        }
    }

    /// All of it.
    fn read(self, name: &str) -> Result<Cow<'c, [u8]>, WheelError> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            content => {
                let length = usize::try_from(content.size_bytes()).expect("larger ones are read in blocks");
                let mut opened = content.open();
                let bytes = opened.take(length, name)?;
                opened.end()?;
                Ok(bytes.into())
            }
        }
    }

    fn open(self) -> Opened<'c> {
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
enum Opened<'o> {
    Bytes(io::Cursor<Cow<'o, [u8]>>),
    Section(Section<'o>),
    Member(Box<MemberReader<'o>>),
}

impl Opened<'_> {
    /// The next `length` bytes.
    fn take(&mut self, length: usize, name: &str) -> Result<Vec<u8>, WheelError> {
        let fault = |source| WheelError::ReadContent { member: name.to_owned(), source };
        let mut bytes = vec![0; length];
        match self {
            Self::Bytes(rest) => rest.read_exact(&mut bytes).map_err(fault)?,
            Self::Section(section) => section.read_exact(&mut bytes).map_err(fault)?,
            Self::Member(reader) => reader.read_exact(&mut bytes).map_err(|error| reader.fault(error))?,
        }
        Ok(bytes)
    }

    /// Checks that nothing follows, and what a member says of its content.
    fn end(&mut self) -> Result<(), WheelError> {
        match self {
            Self::Member(reader) => io::copy(reader, &mut io::sink()).map(drop).map_err(|error| reader.fault(error)),
            Self::Bytes(_) | Self::Section(_) => Ok(()),
        }
    }
}

/// One member of a new archive.
#[derive(Debug, Clone)]
pub enum Entry<'e> {
    /// A member whose compressed bytes are copied as they are.
    Copy {
        /// The archive that it is in.
        archive: &'e Archive<'e>,
        /// It.
        member: &'e Member,
        /// Its name in the new archive.
        name: Cow<'e, str>,
        /// Its time there.
        time: DosTime,
    },
    /// A member that is made.
    New {
        /// Its name.
        name: Cow<'e, str>,
        /// What it holds.
        content: Content<'e>,
        /// How it is written.
        options: NewMember,
    },
}

/// What is told of while members are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    /// So many bytes more were copied, or read for a new member.
    Done(u64),
    /// A new member was written.
    New {
        /// Its name.
        name: String,
        /// SHA-256 of its content.
        sha256: Digest,
        /// The size of its content.
        size_bytes: u64,
    },
}

/// Writes members in this order, and tells of new ones in the same.
///
/// Contents are compressed by the threads of the pool; larger ones in blocks. What is held of them at once is bounded,
/// and the result does not depend on the number of threads.
///
/// # Errors
/// When a content cannot be read or is damaged, a name is too long, or the target cannot be written.
pub fn write_entries<'e>(
    writer: &mut ZipWriter<'_>,
    entries: impl Iterator<Item = Entry<'e>>,
    mut tell: impl FnMut(Told),
) -> Result<(), WheelError> {
    let mut feed = Feed { entries, large: None };
    let mut open = None;
    let room = Room { thread_bytes: THREAD_BYTES, all_bytes: ALL_BYTES };
    in_order(room, || feed.next(), make, |made| write(made?, writer, &mut open, &mut tell))
}

/// What a thread is given.
enum Task<'e> {
    Whole(New<'e>),
    Block(Block<'e>),
}

struct New<'e> {
    name: Cow<'e, str>,
    content: Content<'e>,
    options: NewMember,
}

struct Block<'e> {
    /// Name, size and options, with the first block.
    head: Option<(Cow<'e, str>, u64, NewMember)>,
    bytes: Vec<u8>,
    how: How<'e>,
    /// What to tell, with the last block.
    last: Option<Told>,
}

/// How a block becomes data.
enum How<'e> {
    /// It is deflated, or stored at level 0.
    New { before: Vec<u8>, level: u32 },
    /// The bits of old data that say the same.
    Copied(Old<'e>),
}

/// Bits of the data of a member.
struct Old<'e> {
    archive: &'e Archive<'e>,
    member: &'e Member,
    bits: Range<u64>,
    /// The bit that says that the data ends.
    last_mark: u64,
}

impl Old<'_> {
    fn copy(&self, seam: &mut Seam, writer: &mut ZipWriter<'_>) -> Result<(), WheelError> {
        let (source, offset) = (self.archive.source(), self.member.data_offset);
        let copied = seam.copy(source, offset, self.bits.clone(), self.last_mark, |made| writer.more(made));
        copied.map_err(|error| match error {
            CopyError::Read(error) => WheelError::Read(error),
            CopyError::Write(error) => error,
        })
    }
}

/// What comes back.
enum Made<'e> {
    Copy { archive: &'e Archive<'e>, member: &'e Member, name: Cow<'e, str>, time: DosTime },
    Whole { name: Cow<'e, str>, packed: Packed<'e>, options: NewMember, told: Told },
    Block { block: Block<'e>, size_bytes: u64, crc: crc32fast::Hasher },
}

type MadeStep<'e> = Step<Task<'e>, Result<Made<'e>, WheelError>>;

/// Takes entries apart into what threads work on.
struct Feed<'e, I> {
    entries: I,
    large: Option<Large<'e>>,
}

impl<'e, I: Iterator<Item = Entry<'e>>> Feed<'e, I> {
    fn next(&mut self) -> Result<Option<MadeStep<'e>>, WheelError> {
        if let Some(large) = &mut self.large {
            let block = large.next()?;
            if block.last.is_some() {
                self.large = None;
            }
            let held = 2 * BLOCK_BYTES as u64 + DEFLATE_BYTES;
            return Ok(Some(Step::Work(held, Task::Block(block))));
        }
        Ok(match self.entries.next() {
            None => None,
            Some(Entry::Copy { archive, member, name, time }) => {
                Some(Step::Done(Ok(Made::Copy { archive, member, name, time })))
            }
            Some(Entry::New { name, content, options }) if content.size_bytes() > content.block_limit() => {
                self.large = Some(Large::new(name, content, options)?);
                return self.next();
            }
            Some(Entry::New { name, content, options }) => {
                let held = 2 * content.size_bytes() + DEFLATE_BYTES;
                let is_small = matches!(&content, Content::Bytes(bytes) if bytes.len() <= SMALL_BYTES);
                let task = Task::Whole(New { name, content, options });
                Some(if is_small { Step::Done(make(task)) } else { Step::Work(held, task) })
            }
        })
    }
}

/// A large content, read block by block.
struct Large<'e> {
    name: Cow<'e, str>,
    opened: Opened<'e>,
    options: NewMember,
    size_bytes: u64,
    is_begun: bool,
    /// What is still to be done of the content, the next part last.
    parts: Vec<Part>,
    old: Option<Deflated<'e>>,
    before: Vec<u8>,
    sha256: Sha256,
}

impl<'e> Large<'e> {
    fn new(name: Cow<'e, str>, content: Content<'e>, options: NewMember) -> Result<Self, WheelError> {
        let size_bytes = content.size_bytes();
        let (mut parts, old) = match &content {
            Content::Changed(changed) => changed.parts(options.level)?,
            _ => (vec![Part::New(size_bytes)], None),
        };
        parts.reverse();
        let (opened, before, sha256) = (content.open(), Vec::new(), Sha256::new());
        Ok(Self { name, opened, options, size_bytes, is_begun: false, parts, old, before, sha256 })
    }

    fn next(&mut self) -> Result<Block<'e>, WheelError> {
        let part = self.parts.pop().expect("the last block ends the content");
        let length = usize::try_from(part.content_bytes()).unwrap_or(usize::MAX).min(BLOCK_BYTES);
        let bytes = self.opened.take(length, &self.name)?;
        self.sha256.update(&bytes);
        let how = match (&part, self.old) {
            (Part::Copied(bits, _), Some((archive, member, last_mark))) => {
                How::Copied(Old { archive, member, bits: bits.clone(), last_mark })
            }
            _ => How::New { before: self.before.clone(), level: self.options.level },
        };
        self.parts.extend(part.without(length as u64));
        let mut last = None;
        if self.parts.is_empty() {
            self.opened.end()?;
            let sha256 = Digest::new(std::mem::take(&mut self.sha256).finalize().into());
            last = Some(Told::New { name: self.name.to_string(), sha256, size_bytes: self.size_bytes });
        }
        let seen = [self.before.as_slice(), &bytes[length.saturating_sub(WINDOW_BYTES)..]].concat();
        self.before = seen[seen.len().saturating_sub(WINDOW_BYTES)..].to_vec();
        let is_first = !std::mem::replace(&mut self.is_begun, true);
        let head = is_first.then(|| (self.name.clone(), self.size_bytes, self.options));
        Ok(Block { head, bytes, how, last })
    }
}

/// What a thread makes of its task.
fn make(task: Task<'_>) -> Result<Made<'_>, WheelError> {
    match task {
        Task::Whole(New { name, content, options }) => {
            let bytes = content.read(&name)?;
            let (sha256, size_bytes) = (Digest::new(Sha256::digest(&bytes).into()), bytes.len() as u64);
            let told = Told::New { name: name.to_string(), sha256, size_bytes };
            Ok(Made::Whole { name, packed: Packed::new(bytes, options.level), options, told })
        }
        Task::Block(mut block) => {
            let mut crc = crc32fast::Hasher::new();
            crc.update(&block.bytes);
            let size_bytes = block.bytes.len() as u64;
            match &block.how {
                How::New { level: 0, .. } => {}
                How::New { before, level } => {
                    let place = if block.last.is_some() { Place::Last } else { Place::Inner };
                    block.bytes = deflate::block(&block.bytes, before, *level, place).map_err(WheelError::Write)?;
                }
                How::Copied(_) => block.bytes = Vec::new(),
            }
            Ok(Made::Block { block, size_bytes, crc })
        }
    }
}

/// The member whose blocks are being written, the CRC-32 of those that were, and where in a byte they end.
type Open = Option<(Begun, crc32fast::Hasher, Seam)>;

fn write(
    made: Made<'_>,
    writer: &mut ZipWriter<'_>,
    open: &mut Open,
    tell: &mut impl FnMut(Told),
) -> Result<(), WheelError> {
    match made {
        Made::Copy { archive, member, name, time } => {
            writer.copy(archive, member, &name, time)?;
            tell(Told::Done(member.compressed_bytes()));
        }
        Made::Whole { name, packed, options, told } => {
            writer.append(&name, &packed, &options)?;
            tell(Told::Done(packed.size_bytes()));
            tell(told);
        }
        Made::Block { block, size_bytes, crc } => {
            if let Some((name, size_bytes, options)) = &block.head {
                let begun = writer.begin(name, *size_bytes, options)?;
                *open = Some((begun, crc32fast::Hasher::new(), Seam::default()));
            }
            let (begun, mut sum, mut seam) = open.take().expect("the first block of a member begins it");
            match &block.how {
                How::New { .. } => {
                    writer.more(&seam.align())?;
                    writer.more(&block.bytes)?;
                }
                How::Copied(old) => old.copy(&mut seam, writer)?,
            }
            sum.combine(&crc);
            tell(Told::Done(size_bytes));
            match block.last {
                None => *open = Some((begun, sum, seam)),
                Some(told) => {
                    writer.end(begun, sum.finalize())?;
                    tell(told);
                }
            }
        }
    }
    Ok(())
}
