//! Splicing of deflated data: if little of a content changed, the DEFLATE blocks that inflate to
//! the same content as before are copied bit by bit, and only the others are compressed again.
//!
//! Input: a [`ChangedContent`]. Output: [`SplicePart`]s, which [`BitBuffer`] joins.
//!
//! **Invariant:** the parts inflate to the new content, and the last one is new, so that it ends
//! the stream.

mod bit_buffer;
mod deflate_blocks;

use std::ops::Range;

use super::super::WheelError;
use super::CompressionMethod;
use super::content::ChangedContent;
use super::deflate::WINDOW_BYTES;
use rock_bytes::ReadAt;

pub(super) use bit_buffer::BitBuffer;
use deflate_blocks::BlockIndex;

/// A part of spliced data; parts follow each other without gaps.
#[derive(Clone)]
pub(super) enum SplicePart<'s> {
    /// Blocks of the old data.
    Copied {
        bits: CopiedBits<'s>,
        /// Size that they inflate to.
        content_bytes: u64,
    },
    /// Content that must be compressed.
    New { content_bytes: u64 },
}

/// A range of bits of a deflated stream.
#[derive(Clone)]
pub(super) struct CopiedBits<'s> {
    source: &'s dyn ReadAt,
    /// Offset of the stream in `source`, in bytes.
    offset: u64,
    /// The bits to copy, from the start of the stream.
    bits: Range<u64>,
    /// The BFINAL bit of the stream's last block, which is cleared in the copy.
    final_bit: u64,
}

impl SplicePart<'_> {
    /// Returns the size of the content of the part.
    pub(super) fn content_bytes(&self) -> u64 {
        match self {
            Self::Copied { content_bytes, .. } | Self::New { content_bytes } => *content_bytes,
        }
    }

    /// Returns the rest of the part after a block of this content size. All bits belong to the
    /// first block.
    pub(super) fn rest(self, block_bytes: u64) -> Option<Self> {
        let content_bytes = self.content_bytes().checked_sub(block_bytes)?;
        match self {
            _ if content_bytes == 0 => None,
            Self::Copied { mut bits, .. } => {
                bits.bits.start = bits.bits.end;
                Some(Self::Copied {
                    bits,
                    content_bytes,
                })
            }
            Self::New { .. } => Some(Self::New { content_bytes }),
        }
    }
}

/// Plans the data of a changed content: which blocks are copied, and what is compressed.
///
/// Nothing is copied if the old data is not deflated, is damaged, or has more than
/// [`MAX_BLOCKS`](super::limits::MAX_BLOCKS) blocks.
///
/// # Errors
/// Fails if the old data cannot be read.
pub(super) fn plan_splice<'s>(
    changed: &ChangedContent<'s>,
) -> Result<Vec<SplicePart<'s>>, WheelError> {
    let (member, source) = (changed.member, changed.archive.source());
    let new_bytes = changed.source.size_bytes();
    let all_new = vec![SplicePart::New {
        content_bytes: new_bytes,
    }];
    if member.method() != CompressionMethod::Deflated {
        return Ok(all_new);
    }
    let data = member.data_offset..member.data_offset + member.compressed_bytes;
    let index = BlockIndex::read(source, data, member.size_bytes).map_err(WheelError::Read)?;
    let Some(index) = index else {
        return Ok(all_new);
    };
    let mut parts = Vec::new();
    // End of the content that the parts so far inflate to.
    let mut end = 0;
    for run in &index.runs {
        let content = &run.content;
        if content.end > changed.kept_bytes.min(new_bytes) {
            break;
        }
        // Stored blocks depend on the position in a byte, and are cheap to write again.
        if run.is_stored || is_changed(content, &changed.changed_ranges) {
            continue;
        }
        if content.start > end {
            parts.push(SplicePart::New {
                content_bytes: content.start - end,
            });
        }
        match parts.last_mut() {
            Some(SplicePart::Copied {
                bits,
                content_bytes,
            }) if bits.bits.end == run.bits.start => {
                bits.bits.end = run.bits.end;
                *content_bytes += content.end - content.start;
            }
            _ => parts.push(SplicePart::Copied {
                bits: CopiedBits {
                    source,
                    offset: member.data_offset,
                    bits: run.bits.clone(),
                    final_bit: index.final_bit,
                },
                content_bytes: content.end - content.start,
            }),
        }
        end = content.end;
    }
    parts.push(SplicePart::New {
        content_bytes: new_bytes - end,
    });
    Ok(parts)
}

/// Returns whether blocks of this content may inflate to something else after the changes: a block
/// may repeat what is up to [`WINDOW_BYTES`] in front of it.
fn is_changed(content: &Range<u64>, changed_ranges: &[Range<u64>]) -> bool {
    let window_start = content.start.saturating_sub(WINDOW_BYTES as u64);
    let next = changed_ranges.partition_point(|range| range.end <= window_start);
    changed_ranges
        .get(next)
        .is_some_and(|range| range.start < content.end)
}

#[cfg(test)]
mod tests;
