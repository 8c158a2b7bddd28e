//! Splits entries into tasks for threads.

use std::sync::Arc;

use super::super::WheelError;
use super::super::ordered_parallel::WorkItem;
use super::MemberOptions;
use super::content::MemberContent;
use super::encode::{CHUNK_BYTES, EncodeItem, EncodeTask, EncodedBlock, NewBytes, encode};
use super::entries::ZipEntry;
use super::large_member::{BLOCK_BYTES, LargeMember};
use super::writer::stored_header_bytes;
use rock_bytes::WriteAt;

/// Memory for deflating, without content and result: libdeflate takes about 900 KiB, zlib 256 KiB
/// (zconf.h, "memory requirements").
const DEFLATE_BYTES: u64 = 1 << 20;
/// Contents in memory up to this size are compressed at once, because waking a thread takes longer.
const SMALL_BYTES: usize = 64 << 10;

/// A range of the target whose offset is known before everything in front of it is written.
#[derive(Clone)]
pub(super) struct ReservedRange {
    pub(super) target: Arc<dyn WriteAt>,
    /// Offset of the content; in [`BlockSource`], of the next member's header.
    pub(super) offset: u64,
}

/// The tasks of all entries, in order.
pub(super) struct BlockSource<'e, I> {
    entries: I,
    large: Option<LargeMember<'e>>,
    /// The range after the entries so far, as long as all of them are stored: the size of a deflated
    /// member is not known in advance.
    free: Option<ReservedRange>,
}

impl<'e, I: Iterator<Item = ZipEntry<'e>>> BlockSource<'e, I> {
    pub(super) fn new(entries: I, target: Option<Arc<dyn WriteAt>>) -> Self {
        Self {
            entries,
            large: None,
            free: target.map(|target| ReservedRange { target, offset: 0 }),
        }
    }

    /// Returns the next task, or `None` after the last.
    pub(super) fn next(&mut self) -> Result<Option<EncodeItem<'e>>, WheelError> {
        if self.large.is_some() {
            return self.next_block();
        }
        match self.entries.next() {
            None => Ok(None),
            Some(ZipEntry::Copy {
                archive,
                member,
                name,
                time,
            }) => {
                self.free = None;
                Ok(Some(WorkItem::Ready(Ok(EncodedBlock::Copy {
                    archive,
                    member,
                    name,
                    time,
                }))))
            }
            Some(ZipEntry::New {
                name,
                content,
                options,
            }) => self.next_new(NewBytes {
                name,
                content,
                options,
            }),
        }
    }

    fn next_new(&mut self, new: NewBytes<'e>) -> Result<Option<EncodeItem<'e>>, WheelError> {
        let size_bytes = new.content.size_bytes();
        let range = self.reserve(&new.name, size_bytes, &new.options)?;
        if let Some(range) = range
            && new.content.as_bytes().is_none()
            && size_bytes > CHUNK_BYTES as u64
        {
            let task = EncodeTask::Prewrite(new, range);
            return Ok(Some(WorkItem::Work(CHUNK_BYTES as u64, task)));
        }
        if size_bytes > new.content.block_limit() {
            self.large = Some(LargeMember::new(new)?);
            return self.next_block();
        }
        let is_small =
            matches!(&new.content, MemberContent::Bytes(bytes) if bytes.len() <= SMALL_BYTES);
        let task = EncodeTask::Whole(new);
        Ok(Some(if is_small {
            WorkItem::Ready(encode(task))
        } else {
            WorkItem::Work(2 * size_bytes + DEFLATE_BYTES, task)
        }))
    }

    /// Returns the next block of the large member.
    fn next_block(&mut self) -> Result<Option<EncodeItem<'e>>, WheelError> {
        let Some(large) = &mut self.large else {
            return Ok(None);
        };
        let block = large.next_block()?;
        if block.last.is_some() {
            self.large = None;
        }
        let memory_bytes = 2 * BLOCK_BYTES as u64 + DEFLATE_BYTES;
        Ok(Some(WorkItem::Work(memory_bytes, EncodeTask::Block(block))))
    }

    /// Returns the range of the next member's content, if its offset is known.
    fn reserve(
        &mut self,
        name: &str,
        size_bytes: u64,
        options: &MemberOptions,
    ) -> Result<Option<ReservedRange>, WheelError> {
        let Some(free) = self.free.take().filter(|_| options.level == 0) else {
            return Ok(None);
        };
        let offset = free.offset + stored_header_bytes(name, size_bytes, options)?;
        self.free = Some(ReservedRange {
            target: free.target.clone(),
            offset: offset + size_bytes,
        });
        Ok(Some(ReservedRange { offset, ..free }))
    }
}
