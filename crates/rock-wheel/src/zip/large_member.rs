//! A member whose content is compressed in blocks.

use std::borrow::Cow;

use sha2::{Digest as _, Sha256};

use super::super::WheelError;
use super::MemberOptions;
use super::content::{ContentReader, MemberContent};
use super::deflate::WINDOW_BYTES;
use super::encode::{BlockEncoding, ContentBlock, NewBytes};
use super::entries::WriteEvent;
use super::splice::{SplicePart, plan_splice};
use rock_names::Digest;

/// Content of one block. Starting without a dictionary would cost less than a thousandth of the
/// size; ending at a whole byte costs five bytes.
pub(super) const BLOCK_BYTES: usize = 1 << 20;

/// A large content, read block by block.
pub(super) struct LargeMember<'e> {
    name: Cow<'e, str>,
    reader: ContentReader<'e>,
    options: MemberOptions,
    size_bytes: u64,
    /// Whether the first block was returned.
    is_started: bool,
    /// Parts of the content that are not read yet, the next one last.
    parts: Vec<SplicePart<'e>>,
    /// The content in front of the next block, at most [`WINDOW_BYTES`].
    window: Vec<u8>,
    sha256: Sha256,
}

impl<'e> LargeMember<'e> {
    pub(super) fn new(new: NewBytes<'e>) -> Result<Self, WheelError> {
        let NewBytes {
            name,
            content,
            options,
        } = new;
        let size_bytes = content.size_bytes();
        let mut parts = match &content {
            MemberContent::Changed(changed) if options.level > 0 => plan_splice(changed)?,
            _ => vec![SplicePart::New {
                content_bytes: size_bytes,
            }],
        };
        parts.reverse();
        Ok(Self {
            name,
            reader: content.open(),
            options,
            size_bytes,
            is_started: false,
            parts,
            window: Vec::new(),
            sha256: Sha256::new(),
        })
    }

    /// Returns the next block. Must not be called after the block whose `last` is set.
    pub(super) fn next_block(&mut self) -> Result<ContentBlock<'e>, WheelError> {
        let part = self.parts.pop().expect("the last block ends the content");
        let length = usize::try_from(part.content_bytes())
            .unwrap_or(usize::MAX)
            .min(BLOCK_BYTES);
        let bytes = self.reader.read_chunk(length, &self.name)?;
        self.sha256.update(&bytes);
        let encoding = match &part {
            SplicePart::Copied { bits, .. } => BlockEncoding::Copied(bits.clone()),
            SplicePart::New { .. } => BlockEncoding::New {
                before: self.window.clone(),
                level: self.options.level,
            },
        };
        self.parts.extend(part.rest(length as u64));
        let last = if self.parts.is_empty() {
            self.reader.end()?;
            Some(WriteEvent::MemberWritten {
                name: self.name.to_string(),
                sha256: Digest::new(std::mem::take(&mut self.sha256).finalize().into()),
                size_bytes: self.size_bytes,
            })
        } else {
            None
        };
        self.extend_window(&bytes);
        let is_first = !std::mem::replace(&mut self.is_started, true);
        Ok(ContentBlock {
            head: is_first.then(|| (self.name.clone(), self.size_bytes, self.options)),
            bytes,
            encoding,
            last,
        })
    }

    fn extend_window(&mut self, bytes: &[u8]) {
        let end = &bytes[bytes.len().saturating_sub(WINDOW_BYTES)..];
        let content = [self.window.as_slice(), end].concat();
        self.window = content[content.len().saturating_sub(WINDOW_BYTES)..].to_vec();
    }
}
