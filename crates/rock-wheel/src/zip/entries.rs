//! Writing many members, compressed in parallel and written in order.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::super::WheelError;
use super::super::ordered_parallel::{MemoryLimits, WorkItem, run_in_order};
use super::content::{ContentReader, DeflatedMember, LARGE_BYTES, MemberContent};
use super::deflate::{self, BlockPosition, WINDOW_BYTES};
use super::splice::{BitBuffer, CopyError, SplicePart};
use super::writer::{CompressedContent, OpenMember, stored_header_bytes};
use super::{DosTime, MemberOptions, ZipArchive, ZipMember, ZipWriter};
use rock_bytes::WriteAhead;
use rock_names::Digest;

/// How much of a content a block has. What it could not refer back to without a dictionary costs
/// less than a thousandth; ending at a whole byte costs five bytes.
const BLOCK_BYTES: usize = 1 << 20;
/// What deflating holds beside content and result: of libdeflate about 900 KiB, of zlib 256 KiB
/// (zconf.h, "memory requirements").
const DEFLATE_BYTES: u64 = 1 << 20;
/// Larger contents that are stored are read and written in pieces of this size by one thread each,
/// where the target takes that: what was just read is still near the processor when it is hashed
/// and written.
const PIECE_BYTES: usize = 256 << 10;
/// Smaller contents in memory are compressed at once: a thread would take longer to hear of them.
const SMALL_BYTES: usize = 64 << 10;
/// What each thread may hold: the largest content that is compressed as a whole, its result, and
/// the next.
const THREAD_BYTES: u64 = 3 * LARGE_BYTES;
/// What all of them may hold.
const ALL_BYTES: u64 = 256 << 20;

/// One member of a new archive.
#[derive(Debug, Clone)]
pub enum ZipEntry<'e> {
    /// A member whose compressed bytes are copied as they are.
    Copy {
        /// The archive that it is in.
        archive: &'e ZipArchive<'e>,
        /// It.
        member: &'e ZipMember,
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
        content: MemberContent<'e>,
        /// How it is written.
        options: MemberOptions,
    },
}

/// What is told of while members are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WriteEvent {
    /// So many bytes more were copied, or read for a new member.
    BytesDone(u64),
    /// A new member was written.
    MemberWritten {
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
/// Contents are compressed by the threads of the pool; larger ones in blocks. What is held of them
/// at once is bounded, and the result does not depend on the number of threads.
///
/// # Errors
/// When a content cannot be read or is damaged, a name is too long, or the target cannot be
/// written.
pub fn write_entries<'e>(
    writer: &mut ZipWriter<'_>,
    entries: impl Iterator<Item = ZipEntry<'e>>,
    mut tell: impl FnMut(WriteEvent),
) -> Result<(), WheelError> {
    let ahead = writer
        .write_ahead()?
        .map(|target| Ahead { target, next: 0 });
    let mut feed = Feed {
        entries,
        large: None,
        ahead,
    };
    let mut open = None;
    let room = MemoryLimits {
        per_thread_bytes: THREAD_BYTES,
        total_bytes: ALL_BYTES,
    };
    run_in_order(
        room,
        || feed.next(),
        make,
        |made| write(made?, writer, &mut open, &mut tell),
    )
}

/// What a thread is given.
enum Task<'e> {
    Whole(New<'e>),
    Block(Block<'e>),
    /// A content that is written to its place at once.
    Ahead(New<'e>, Ahead),
}

/// A place in the target that is known before all is written that comes before it.
#[derive(Clone)]
struct Ahead {
    target: Arc<dyn WriteAhead>,
    /// Where the next member begins, or the content of this one.
    next: u64,
}

struct New<'e> {
    name: Cow<'e, str>,
    content: MemberContent<'e>,
    options: MemberOptions,
}

struct Block<'e> {
    /// Name, size and options, with the first block.
    head: Option<(Cow<'e, str>, u64, MemberOptions)>,
    bytes: Vec<u8>,
    how: How<'e>,
    /// What to tell, with the last block.
    last: Option<WriteEvent>,
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
    archive: &'e ZipArchive<'e>,
    member: &'e ZipMember,
    bits: Range<u64>,
    /// The bit that says that the data ends.
    last_mark: u64,
}

impl Old<'_> {
    fn copy(&self, seam: &mut BitBuffer, writer: &mut ZipWriter<'_>) -> Result<(), WheelError> {
        let (source, offset) = (self.archive.source(), self.member.data_offset);
        let copied = seam.copy(source, offset, self.bits.clone(), self.last_mark, |made| {
            writer.write_data(made)
        });
        copied.map_err(|error| match error {
            CopyError::Read(error) => WheelError::Read(error),
            CopyError::Write(error) => error,
        })
    }
}

/// What comes back.
enum Made<'e> {
    Copy {
        archive: &'e ZipArchive<'e>,
        member: &'e ZipMember,
        name: Cow<'e, str>,
        time: DosTime,
    },
    Whole {
        name: Cow<'e, str>,
        packed: CompressedContent<'e>,
        options: MemberOptions,
        told: WriteEvent,
    },
    Ahead {
        name: Cow<'e, str>,
        crc32: u32,
        options: MemberOptions,
        sha256: Digest,
        size_bytes: u64,
    },
    Block {
        block: Block<'e>,
        size_bytes: u64,
        crc: crc32fast::Hasher,
    },
}

type MadeStep<'e> = WorkItem<Task<'e>, Result<Made<'e>, WheelError>>;

/// Takes entries apart into what threads work on.
struct Feed<'e, I> {
    entries: I,
    large: Option<Large<'e>>,
    /// Known as long as all members are stored: nobody knows before how long a deflated one
    /// becomes.
    ahead: Option<Ahead>,
}

impl<'e, I: Iterator<Item = ZipEntry<'e>>> Feed<'e, I> {
    fn next(&mut self) -> Result<Option<MadeStep<'e>>, WheelError> {
        if let Some(large) = &mut self.large {
            let block = large.next()?;
            if block.last.is_some() {
                self.large = None;
            }
            let held = 2 * BLOCK_BYTES as u64 + DEFLATE_BYTES;
            return Ok(Some(WorkItem::Work(held, Task::Block(block))));
        }
        let entry = self.entries.next();
        let place = match &entry {
            Some(ZipEntry::New {
                name,
                content,
                options,
            }) => self.place(name, content.size_bytes(), options)?,
            Some(ZipEntry::Copy { .. }) | None => {
                self.ahead = None;
                None
            }
        };
        Ok(match entry {
            None => None,
            Some(ZipEntry::Copy {
                archive,
                member,
                name,
                time,
            }) => Some(WorkItem::Ready(Ok(Made::Copy {
                archive,
                member,
                name,
                time,
            }))),
            Some(ZipEntry::New {
                name,
                content,
                options,
            }) if place.is_some()
                && content.as_bytes().is_none()
                && content.size_bytes() > PIECE_BYTES as u64 =>
            {
                let task = place.map(|place| {
                    Task::Ahead(
                        New {
                            name,
                            content,
                            options,
                        },
                        place,
                    )
                });
                task.map(|task| WorkItem::Work(PIECE_BYTES as u64, task))
            }
            Some(ZipEntry::New {
                name,
                content,
                options,
            }) if content.size_bytes() > content.block_limit() => {
                self.large = Some(Large::new(name, content, options)?);
                return self.next();
            }
            Some(ZipEntry::New {
                name,
                content,
                options,
            }) => {
                let held = 2 * content.size_bytes() + DEFLATE_BYTES;
                let is_small =
                    matches!(&content, MemberContent::Bytes(bytes) if bytes.len() <= SMALL_BYTES);
                let task = Task::Whole(New {
                    name,
                    content,
                    options,
                });
                Some(if is_small {
                    WorkItem::Ready(make(task))
                } else {
                    WorkItem::Work(held, task)
                })
            }
        })
    }

    /// Where the content of the next member goes, where that is known.
    fn place(
        &mut self,
        name: &str,
        size_bytes: u64,
        options: &MemberOptions,
    ) -> Result<Option<Ahead>, WheelError> {
        let Some(ahead) = self.ahead.take().filter(|_| options.level == 0) else {
            return Ok(None);
        };
        let content = ahead.next + stored_header_bytes(name, size_bytes, options)?;
        self.ahead = Some(Ahead {
            next: content + size_bytes,
            target: ahead.target.clone(),
        });
        Ok(Some(Ahead {
            next: content,
            ..ahead
        }))
    }
}

/// A large content, read block by block.
struct Large<'e> {
    name: Cow<'e, str>,
    opened: ContentReader<'e>,
    options: MemberOptions,
    size_bytes: u64,
    is_begun: bool,
    /// What is still to be done of the content, the next part last.
    parts: Vec<SplicePart>,
    old: Option<DeflatedMember<'e>>,
    before: Vec<u8>,
    sha256: Sha256,
}

impl<'e> Large<'e> {
    fn new(
        name: Cow<'e, str>,
        content: MemberContent<'e>,
        options: MemberOptions,
    ) -> Result<Self, WheelError> {
        let size_bytes = content.size_bytes();
        let (mut parts, old) = match &content {
            MemberContent::Changed(changed) => changed.parts(options.level)?,
            _ => (vec![SplicePart::New(size_bytes)], None),
        };
        parts.reverse();
        let (opened, before, sha256) = (content.open(), Vec::new(), Sha256::new());
        Ok(Self {
            name,
            opened,
            options,
            size_bytes,
            is_begun: false,
            parts,
            old,
            before,
            sha256,
        })
    }

    fn next(&mut self) -> Result<Block<'e>, WheelError> {
        let part = self.parts.pop().expect("the last block ends the content");
        let length = usize::try_from(part.content_bytes())
            .unwrap_or(usize::MAX)
            .min(BLOCK_BYTES);
        let bytes = self.opened.read_chunk(length, &self.name)?;
        self.sha256.update(&bytes);
        let how = match (&part, self.old) {
            (SplicePart::Copied(bits, _), Some((archive, member, last_mark))) => How::Copied(Old {
                archive,
                member,
                bits: bits.clone(),
                last_mark,
            }),
            _ => How::New {
                before: self.before.clone(),
                level: self.options.level,
            },
        };
        self.parts.extend(part.without(length as u64));
        let mut last = None;
        if self.parts.is_empty() {
            self.opened.end()?;
            let sha256 = Digest::new(std::mem::take(&mut self.sha256).finalize().into());
            last = Some(WriteEvent::MemberWritten {
                name: self.name.to_string(),
                sha256,
                size_bytes: self.size_bytes,
            });
        }
        let seen = [
            self.before.as_slice(),
            &bytes[length.saturating_sub(WINDOW_BYTES)..],
        ]
        .concat();
        self.before = seen[seen.len().saturating_sub(WINDOW_BYTES)..].to_vec();
        let is_first = !std::mem::replace(&mut self.is_begun, true);
        let head = is_first.then(|| (self.name.clone(), self.size_bytes, self.options));
        Ok(Block {
            head,
            bytes,
            how,
            last,
        })
    }
}

/// What a thread makes of its task.
fn make(task: Task<'_>) -> Result<Made<'_>, WheelError> {
    match task {
        Task::Whole(New {
            name,
            content,
            options,
        }) => {
            let bytes = content.read(&name)?;
            let (sha256, size_bytes) = (
                Digest::new(Sha256::digest(&bytes).into()),
                bytes.len() as u64,
            );
            let told = WriteEvent::MemberWritten {
                name: name.to_string(),
                sha256,
                size_bytes,
            };
            Ok(Made::Whole {
                name,
                packed: CompressedContent::new(bytes, options.level),
                options,
                told,
            })
        }
        Task::Ahead(
            New {
                name,
                content,
                options,
            },
            place,
        ) => {
            let size_bytes = content.size_bytes();
            let (mut opened, mut crc, mut sha256) =
                (content.open(), crc32fast::Hasher::new(), Sha256::new());
            let (mut piece, mut done) = (vec![0; PIECE_BYTES], 0);
            while done < size_bytes {
                let length =
                    PIECE_BYTES.min(usize::try_from(size_bytes - done).unwrap_or(PIECE_BYTES));
                let bytes = &mut piece[..length];
                opened.read_exact(bytes, &name)?;
                crc.update(bytes);
                sha256.update(&bytes);
                place
                    .target
                    .write_at(bytes, place.next + done)
                    .map_err(WheelError::Write)?;
                done += length as u64;
            }
            opened.end()?;
            let sha256 = Digest::new(sha256.finalize().into());
            Ok(Made::Ahead {
                name,
                crc32: crc.finalize(),
                options,
                sha256,
                size_bytes,
            })
        }
        Task::Block(mut block) => {
            let mut crc = crc32fast::Hasher::new();
            crc.update(&block.bytes);
            let size_bytes = block.bytes.len() as u64;
            match &block.how {
                How::New { level: 0, .. } => {}
                How::New { before, level } => {
                    let place = if block.last.is_some() {
                        BlockPosition::Last
                    } else {
                        BlockPosition::Inner
                    };
                    block.bytes = deflate::deflate_block(&block.bytes, before, *level, place)
                        .map_err(WheelError::Write)?;
                }
                How::Copied(_) => block.bytes = Vec::new(),
            }
            Ok(Made::Block {
                block,
                size_bytes,
                crc,
            })
        }
    }
}

/// The member whose blocks are being written, the CRC-32 of those that were, and where in a byte
/// they end.
type Open = Option<(OpenMember, crc32fast::Hasher, BitBuffer)>;

fn write(
    made: Made<'_>,
    writer: &mut ZipWriter<'_>,
    open: &mut Open,
    tell: &mut impl FnMut(WriteEvent),
) -> Result<(), WheelError> {
    match made {
        Made::Copy {
            archive,
            member,
            name,
            time,
        } => {
            writer.copy(archive, member, &name, time)?;
            tell(WriteEvent::BytesDone(member.compressed_bytes()));
        }
        Made::Whole {
            name,
            packed,
            options,
            told,
        } => {
            writer.add_compressed(&name, &packed, &options)?;
            tell(WriteEvent::BytesDone(packed.size_bytes()));
            tell(told);
        }
        Made::Ahead {
            name,
            crc32,
            options,
            sha256,
            size_bytes,
        } => {
            writer.add_prewritten(&name, size_bytes, crc32, &options)?;
            tell(WriteEvent::BytesDone(size_bytes));
            tell(WriteEvent::MemberWritten {
                name: name.into_owned(),
                sha256,
                size_bytes,
            });
        }
        Made::Block {
            block,
            size_bytes,
            crc,
        } => {
            if let Some((name, size_bytes, options)) = &block.head {
                let begun = writer.begin_member(name, *size_bytes, options)?;
                *open = Some((begun, crc32fast::Hasher::new(), BitBuffer::default()));
            }
            let (begun, mut sum, mut seam) =
                open.take().expect("the first block of a member begins it");
            match &block.how {
                How::New { .. } => {
                    writer.write_data(&seam.align())?;
                    writer.write_data(&block.bytes)?;
                }
                How::Copied(old) => old.copy(&mut seam, writer)?,
            }
            sum.combine(&crc);
            tell(WriteEvent::BytesDone(size_bytes));
            match block.last {
                None => *open = Some((begun, sum, seam)),
                Some(told) => {
                    writer.end_member(begun, sum.finalize())?;
                    tell(told);
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rock_bytes::Target;
    use rock_bytes::is_same;
    use rock_sys::{Existing, FileError, PositionalFile, save};

    /// Some bytes, then an archive of these contents, and what was told of them.
    fn written(contents: &[Vec<u8>], levels: &[u32], target: &mut dyn Target) -> Vec<WriteEvent> {
        target.write_all(b"before").unwrap();
        let entries = contents
            .iter()
            .zip(levels)
            .enumerate()
            .map(|(at, (content, &level))| ZipEntry::New {
                name: format!("member {at}").into(),
                content: MemberContent::Source(content),
                options: MemberOptions {
                    level,
                    ..MemberOptions::default()
                },
            });
        let (mut writer, mut told) = (ZipWriter::new(target), Vec::new());
        write_entries(&mut writer, entries, |one| {
            told.extend(matches!(one, WriteEvent::MemberWritten { .. }).then_some(one));
        })
        .unwrap();
        writer.finish().unwrap();
        told
    }

    #[test]
    fn what_is_written_ahead_lies_where_it_does_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("archive");
        let sizes = [
            0,
            9,
            PIECE_BYTES,
            PIECE_BYTES + 1,
            3 * PIECE_BYTES + 7,
            9 << 20,
            5,
        ];
        let contents: Vec<Vec<u8>> = sizes
            .iter()
            .map(|&size| (0..=250_u8).cycle().take(size).collect())
            .collect();
        for levels in [[0; 7], [0, 0, 0, 0, 6, 0, 0]] {
            let mut expected = Vec::new();
            let expected_told = written(&contents, &levels, &mut expected);
            let mut told = Vec::new();
            save::<FileError>(&path, Existing::Replace, |target| {
                told = written(&contents, &levels, target);
                Ok(())
            })
            .unwrap();
            assert_eq!(told, expected_told);
            assert!(is_same(&PositionalFile::open(&path).unwrap(), &expected).unwrap());
        }
    }
}
