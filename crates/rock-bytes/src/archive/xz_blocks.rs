//! Streams of xz that the calling thread writes, with the bytes that liblzma's threads write.
//!
//! liblzma's encoder with threads notes the sizes of a block in its header, which its encoder
//! without threads does not. Here the LZMA2 data comes from liblzma, and the frame around it is
//! written by The .xz File Format 1.2.1. Only the compressed data of one block is held.

use std::io::{self, Write};

use liblzma::stream::{Action, Filters, LzmaOptions, Status, Stream};

use super::xz::PRESET;
use crate::ReadAt;

/// Section 2.1.1.1: the magic bytes of a stream's header, and of its footer (2.1.2.4).
const HEADER_MAGIC: [u8; 6] = [0xFD, b'7', b'z', b'X', b'Z', 0];
const FOOTER_MAGIC: [u8; 2] = *b"YZ";
/// Section 2.1.1.2: the check is CRC64.
const STREAM_FLAGS: [u8; 2] = [0, 4];
/// Section 3.1.2: one filter, and both sizes are in the header.
const BLOCK_FLAGS: u8 = 0xC0;
/// Section 5.3.1: the filter LZMA2 with one byte of properties.
const LZMA2: [u8; 2] = [0x21, 1];
/// Section 5.3.1: the dictionary of preset 6 has 8 MiB, and the smallest 4 KiB.
const PRESET_DICTIONARY: u8 = 22;
const SMALLEST_DICTIONARY: u8 = 0;
/// The size of a CRC64.
const CHECK_BYTES: usize = 8;
/// The largest chunk of LZMA2 that is not compressed (liblzma, `lzma2_encoder.h`,
/// `LZMA2_CHUNK_MAX`).
const CHUNK_BYTES: usize = 1 << 16;
/// The most that liblzma expects around the data of a block (`block_buffer_encoder.c`,
/// `HEADERS_BOUND`).
const MAX_FRAME_BYTES: usize = 92;
/// The bytes of the source that are read at once.
const PIECE_BYTES: usize = 256 << 10;

/// Writes a source as one stream with blocks of `block_bytes` of content.
///
/// # Errors
/// When the source cannot be read, or the target cannot be written.
pub(super) fn write_blocks(
    source: &dyn ReadAt,
    block_bytes: u64,
    target: &mut dyn Write,
) -> io::Result<()> {
    target.write_all(&HEADER_MAGIC)?;
    target.write_all(&STREAM_FLAGS)?;
    target.write_all(&crc32fast::hash(&STREAM_FLAGS).to_le_bytes())?;
    let mut index = Index::default();
    let mut from = 0;
    while from < source.size_bytes() {
        let size_bytes = block_bytes.min(source.size_bytes() - from);
        let block = Block::compress(source, from, size_bytes, block_bytes)?;
        index.add(block.write(target)?, size_bytes);
        from += size_bytes;
    }
    index.write(target)
}

/// The content of one block as LZMA2.
struct Block {
    data: Vec<u8>,
    dictionary: u8,
    size_bytes: u64,
    header_bytes: usize,
    check: [u8; CHECK_BYTES],
}

impl Block {
    fn compress(
        source: &dyn ReadAt,
        from: u64,
        size_bytes: u64,
        block_bytes: u64,
    ) -> io::Result<Self> {
        let options = LzmaOptions::new_preset(PRESET).map_err(io::Error::other)?;
        let mut encoder =
            Stream::new_raw_encoder(Filters::new().lzma2(&options)).map_err(io::Error::other)?;
        let mut crc = Crc64::default();
        let most = bound(usize::try_from(block_bytes).map_err(io::Error::other)?);
        // liblzma reserves room for the largest sizes that a header may state.
        let header_bytes = header_bytes(most as u64, block_bytes);
        let mut data: Vec<u8> = Vec::with_capacity(PIECE_BYTES);
        let mut piece = vec![0; PIECE_BYTES];
        let mut at = 0;
        while at < size_bytes {
            let length =
                usize::try_from(size_bytes - at).map_or(PIECE_BYTES, |left| left.min(PIECE_BYTES));
            source.read_exact_at(&mut piece[..length], from + at)?;
            crc.feed(&piece[..length]);
            encode(&mut encoder, &piece[..length], Action::Run, &mut data)?;
            at += length as u64;
        }
        encode(&mut encoder, &[], Action::Finish, &mut data)?;
        let check = crc.finish();
        let dictionary = PRESET_DICTIONARY;
        let block = Self {
            data,
            dictionary,
            size_bytes,
            header_bytes,
            check,
        };
        // liblzma stores a block whose compressed form has no room in its buffer.
        if block.written_bytes() > most {
            block.stored(source, from)
        } else {
            Ok(block)
        }
    }

    /// Returns the block in chunks of LZMA2 that are not compressed (section 5.3.1; liblzma,
    /// `block_encode_uncompressed`).
    fn stored(mut self, source: &dyn ReadAt, from: u64) -> io::Result<Self> {
        self.data.clear();
        let mut at = 0;
        while at < self.size_bytes {
            let length = usize::try_from(self.size_bytes - at)
                .map_or(CHUNK_BYTES, |left| left.min(CHUNK_BYTES));
            // The first chunk resets the dictionary.
            self.data.push(if at == 0 { 1 } else { 2 });
            let stated = u16::try_from(length - 1).map_err(io::Error::other)?;
            self.data.extend(stated.to_be_bytes());
            let start = self.data.len();
            self.data.resize(start + length, 0);
            source.read_exact_at(&mut self.data[start..], from + at)?;
            at += length as u64;
        }
        self.data.push(0);
        self.dictionary = SMALLEST_DICTIONARY;
        self.header_bytes = header_bytes(self.data.len() as u64, self.size_bytes);
        Ok(self)
    }

    /// The size of the block as it is written.
    fn written_bytes(&self) -> usize {
        self.header_bytes + self.data.len().next_multiple_of(4) + CHECK_BYTES
    }

    /// Writes the block, and returns its unpadded size (section 4.3).
    fn write(&self, target: &mut dyn Write) -> io::Result<u64> {
        let stated = u8::try_from(self.header_bytes / 4 - 1).map_err(io::Error::other)?;
        let mut header = vec![stated, BLOCK_FLAGS];
        push_integer(&mut header, self.data.len() as u64);
        push_integer(&mut header, self.size_bytes);
        header.extend(LZMA2);
        header.push(self.dictionary);
        header.resize(self.header_bytes - 4, 0);
        header.extend(crc32fast::hash(&header).to_le_bytes());
        target.write_all(&header)?;
        target.write_all(&self.data)?;
        target.write_all(&[0; 3][..self.data.len().next_multiple_of(4) - self.data.len()])?;
        target.write_all(&self.check)?;
        Ok((self.header_bytes + self.data.len() + CHECK_BYTES) as u64)
    }
}

/// Feeds an encoder, and appends what it makes.
fn encode(
    encoder: &mut Stream,
    mut input: &[u8],
    action: Action,
    data: &mut Vec<u8>,
) -> io::Result<()> {
    loop {
        data.reserve(PIECE_BYTES);
        let before = encoder.total_in();
        let status = encoder
            .process_vec(input, data, action)
            .map_err(io::Error::other)?;
        let taken = usize::try_from(encoder.total_in() - before).map_err(io::Error::other)?;
        input = &input[taken..];
        let is_done = match action {
            Action::Finish => status == Status::StreamEnd,
            _ => input.is_empty(),
        };
        if is_done {
            return Ok(());
        }
    }
}

/// The size of the header of a block with these sizes (section 3.1).
fn header_bytes(compressed_bytes: u64, size_bytes: u64) -> usize {
    // Its own size, flags, the sizes, the filter, and a CRC32.
    (2 + integer_bytes(compressed_bytes) + integer_bytes(size_bytes) + 3 + 4).next_multiple_of(4)
}

/// The most that a block with this much content takes (liblzma, `lzma_block_buffer_bound64`).
fn bound(block_bytes: usize) -> usize {
    let stored_bytes = block_bytes + block_bytes.div_ceil(CHUNK_BYTES) * 3 + 1;
    MAX_FRAME_BYTES + stored_bytes.next_multiple_of(4)
}

/// The index of a stream (section 4): the unpadded and the uncompressed size of each block.
#[derive(Default)]
struct Index {
    blocks: Vec<(u64, u64)>,
}

impl Index {
    fn add(&mut self, unpadded_bytes: u64, size_bytes: u64) {
        self.blocks.push((unpadded_bytes, size_bytes));
    }

    /// Writes the index and the footer of the stream (section 2.1.2).
    fn write(&self, target: &mut dyn Write) -> io::Result<()> {
        let mut index = vec![0];
        push_integer(&mut index, self.blocks.len() as u64);
        for (unpadded_bytes, size_bytes) in &self.blocks {
            push_integer(&mut index, *unpadded_bytes);
            push_integer(&mut index, *size_bytes);
        }
        index.resize(index.len().next_multiple_of(4), 0);
        index.extend(crc32fast::hash(&index).to_le_bytes());
        target.write_all(&index)?;
        let backward = u32::try_from(index.len() / 4 - 1).map_err(io::Error::other)?;
        let mut footer = backward.to_le_bytes().to_vec();
        footer.extend(STREAM_FLAGS);
        target.write_all(&crc32fast::hash(&footer).to_le_bytes())?;
        target.write_all(&footer)?;
        target.write_all(&FOOTER_MAGIC)
    }
}

/// Appends an integer in groups of seven bits, the lowest first (section 1.2).
fn push_integer(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(low_byte(value) | 0x80);
        value >>= 7;
    }
    bytes.push(low_byte(value));
}

fn low_byte(value: u64) -> u8 {
    value.to_le_bytes()[0]
}

fn integer_bytes(value: u64) -> usize {
    (64 - (value | 1).leading_zeros()).div_ceil(7) as usize
}

/// CRC64 as of ECMA-182, reflected (section 6).
struct Crc64(u64);

/// The CRC64 of each byte.
const CRC64_TABLE: [u64; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u64;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 {
                crc >> 1 ^ 0xC96C_5795_D787_0F42
            } else {
                crc >> 1
            };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
};

impl Default for Crc64 {
    fn default() -> Self {
        Self(!0)
    }
}

impl Crc64 {
    fn feed(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = CRC64_TABLE[usize::from(low_byte(self.0) ^ byte)] ^ self.0 >> 8;
        }
    }

    fn finish(self) -> [u8; CHECK_BYTES] {
        (!self.0).to_le_bytes()
    }
}
