//! Writing many members, compressed in parallel and written in order.

use std::borrow::Cow;
use std::io::{self, Read};

use sha2::{Digest as _, Sha256};

use super::super::WheelError;
use super::super::in_order::{Room, Step, in_order};
use super::deflate::{self, Place, WINDOW_BYTES};
use super::write::{Begun, Packed};
use super::{Archive, DosTime, Member, MemberReader, NewMember, ZipWriter};
use crate::bytes::{ReadAt, Section};
use crate::names::Digest;

/// Larger contents are compressed in blocks, in parallel.
const LARGE_BYTES: u64 = 8 << 20;
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
}

impl<'c> Content<'c> {
    /// How many bytes it has.
    pub fn size_bytes(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Source(source) => source.size_bytes(),
            Self::Member(_, member) => member.size_bytes(),
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
            Self::Source(source) => Opened::Section(Section::new(source, 0, source.size_bytes())),
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
    before: Vec<u8>,
    level: u32,
    /// What to tell, with the last block.
    last: Option<Told>,
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
            Some(Entry::New { name, content, options }) if content.size_bytes() > LARGE_BYTES => {
                self.large = Some(Large::new(name, content, options));
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
    left_bytes: u64,
    before: Vec<u8>,
    sha256: Sha256,
}

impl<'e> Large<'e> {
    fn new(name: Cow<'e, str>, content: Content<'e>, options: NewMember) -> Self {
        let size_bytes = content.size_bytes();
        let opened = content.open();
        Self { name, opened, options, size_bytes, left_bytes: size_bytes, before: Vec::new(), sha256: Sha256::new() }
    }

    fn next(&mut self) -> Result<Block<'e>, WheelError> {
        let is_first = self.left_bytes == self.size_bytes;
        let length = usize::try_from(self.left_bytes).unwrap_or(usize::MAX).min(BLOCK_BYTES);
        let bytes = self.opened.take(length, &self.name)?;
        self.sha256.update(&bytes);
        self.left_bytes -= length as u64;
        let mut last = None;
        if self.left_bytes == 0 {
            self.opened.end()?;
            let sha256 = Digest::new(std::mem::take(&mut self.sha256).finalize().into());
            last = Some(Told::New { name: self.name.to_string(), sha256, size_bytes: self.size_bytes });
        }
        let tail = bytes[length.saturating_sub(WINDOW_BYTES)..].to_vec();
        let before = std::mem::replace(&mut self.before, tail);
        let head = is_first.then(|| (self.name.clone(), self.size_bytes, self.options));
        Ok(Block { head, bytes, before, level: self.options.level, last })
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
            if block.level > 0 {
                let place = if block.last.is_some() { Place::Last } else { Place::Inner };
                let deflated = deflate::block(&block.bytes, &block.before, block.level, place);
                block.bytes = deflated.map_err(WheelError::Write)?;
            }
            Ok(Made::Block { block, size_bytes, crc })
        }
    }
}

/// The member whose blocks are being written, and the CRC-32 of those that were.
type Open = Option<(Begun, crc32fast::Hasher)>;

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
                *open = Some((writer.begin(name, *size_bytes, options)?, crc32fast::Hasher::new()));
            }
            writer.more(&block.bytes)?;
            let (begun, mut sum) = open.take().expect("the first block of a member begins it");
            sum.combine(&crc);
            tell(Told::Done(size_bytes));
            match block.last {
                None => *open = Some((begun, sum)),
                Some(told) => {
                    writer.end(begun, sum.finalize())?;
                    tell(told);
                }
            }
        }
    }
    Ok(())
}
