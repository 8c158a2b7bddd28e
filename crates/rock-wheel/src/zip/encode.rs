//! The work of one thread: hashing and compressing a member or one block of it.

use std::borrow::Cow;

use sha2::{Digest as _, Sha256};

use super::super::WheelError;
use super::super::ordered_parallel::WorkItem;
use super::block_source::ReservedRange;
use super::content::MemberContent;
use super::deflate::{self, BlockPosition};
use super::entries::WriteEvent;
use super::splice::CopiedBits;
use super::writer::CompressedContent;
use super::{DosTime, MemberOptions, ZipArchive, ZipMember};
use rock_names::Digest;

/// Stored contents larger than this are read and written in chunks of this size by one thread, if
/// the target supports that: a chunk is still in the processor's cache when it is hashed and
/// written.
pub(super) const CHUNK_BYTES: usize = 256 << 10;

/// A task for a thread.
pub(super) enum EncodeTask<'e> {
    /// A content that is compressed as a whole.
    Whole(NewBytes<'e>),
    /// A block of a large content.
    Block(ContentBlock<'e>),
    /// A content that is stored at a known offset, written by the thread itself.
    Prewrite(NewBytes<'e>, ReservedRange),
}

/// A new member before it is read.
pub(super) struct NewBytes<'e> {
    pub(super) name: Cow<'e, str>,
    pub(super) content: MemberContent<'e>,
    pub(super) options: MemberOptions,
}

/// A block of a large content.
pub(super) struct ContentBlock<'e> {
    /// Name, content size and options of the member; only in its first block.
    pub(super) head: Option<(Cow<'e, str>, u64, MemberOptions)>,
    /// The content; after [`encode`], the data to write.
    pub(super) bytes: Vec<u8>,
    pub(super) encoding: BlockEncoding<'e>,
    /// The event to report after the last block of the member.
    pub(super) last: Option<WriteEvent>,
}

/// The encoding of a block in the new archive.
pub(super) enum BlockEncoding<'e> {
    /// Deflated with the window `before`, or stored at level 0.
    New { before: Vec<u8>, level: u32 },
    /// Bits of the old data that inflate to the same content.
    Copied(CopiedBits<'e>),
}

/// The result of a task, or a member that needs none.
pub(super) enum EncodedBlock<'e> {
    Copy {
        archive: &'e ZipArchive<'e>,
        member: &'e ZipMember,
        name: Cow<'e, str>,
        time: DosTime,
    },
    Whole {
        name: Cow<'e, str>,
        compressed: CompressedContent<'e>,
        options: MemberOptions,
        event: WriteEvent,
    },
    Prewritten {
        name: Cow<'e, str>,
        crc32: u32,
        options: MemberOptions,
        sha256: Digest,
        size_bytes: u64,
    },
    Block {
        block: ContentBlock<'e>,
        /// Size of the content of the block.
        size_bytes: u64,
        crc: crc32fast::Hasher,
    },
}

/// An item for [`run_in_order`](super::super::ordered_parallel::run_in_order).
pub(super) type EncodeItem<'e> = WorkItem<EncodeTask<'e>, Result<EncodedBlock<'e>, WheelError>>;

/// Performs a task.
pub(super) fn encode(task: EncodeTask<'_>) -> Result<EncodedBlock<'_>, WheelError> {
    match task {
        EncodeTask::Whole(new) => encode_whole(new),
        EncodeTask::Block(block) => encode_block(block),
        EncodeTask::Prewrite(new, range) => prewrite(new, &range),
    }
}

fn encode_whole(new: NewBytes<'_>) -> Result<EncodedBlock<'_>, WheelError> {
    let NewBytes {
        name,
        content,
        options,
    } = new;
    let bytes = content.read(&name)?;
    let event = WriteEvent::MemberWritten {
        name: name.to_string(),
        sha256: Digest::new(Sha256::digest(&bytes).into()),
        size_bytes: bytes.len() as u64,
    };
    Ok(EncodedBlock::Whole {
        name,
        compressed: CompressedContent::new(bytes, options.level),
        options,
        event,
    })
}

fn encode_block(mut block: ContentBlock<'_>) -> Result<EncodedBlock<'_>, WheelError> {
    let mut crc = crc32fast::Hasher::new();
    crc.update(&block.bytes);
    let size_bytes = block.bytes.len() as u64;
    match &block.encoding {
        BlockEncoding::New { level: 0, .. } => {}
        BlockEncoding::New { before, level } => {
            let position = if block.last.is_some() {
                BlockPosition::Last
            } else {
                BlockPosition::Inner
            };
            block.bytes = deflate::deflate_block(&block.bytes, before, *level, position)
                .map_err(WheelError::Write)?;
        }
        BlockEncoding::Copied(_) => block.bytes = Vec::new(),
    }
    Ok(EncodedBlock::Block {
        block,
        size_bytes,
        crc,
    })
}

/// Writes a stored content to its place in the target.
fn prewrite<'e>(new: NewBytes<'e>, range: &ReservedRange) -> Result<EncodedBlock<'e>, WheelError> {
    let NewBytes {
        name,
        content,
        options,
    } = new;
    let size_bytes = content.size_bytes();
    let mut reader = content.open();
    let (mut crc, mut sha256) = (crc32fast::Hasher::new(), Sha256::new());
    let (mut chunk, mut done) = (vec![0; CHUNK_BYTES], 0);
    while done < size_bytes {
        let length = CHUNK_BYTES.min(usize::try_from(size_bytes - done).unwrap_or(CHUNK_BYTES));
        let bytes = &mut chunk[..length];
        reader.read_exact(bytes, &name)?;
        crc.update(bytes);
        sha256.update(&bytes);
        range
            .target
            .write_at(bytes, range.offset + done)
            .map_err(WheelError::Write)?;
        done += length as u64;
    }
    reader.end()?;
    Ok(EncodedBlock::Prewritten {
        name,
        crc32: crc.finalize(),
        options,
        sha256: Digest::new(sha256.finalize().into()),
        size_bytes,
    })
}
