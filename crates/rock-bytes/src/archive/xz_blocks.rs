//! A single-threaded writer of xz streams that are identical to those of liblzma's multi-threaded
//! encoder.
//!
//! liblzma's multi-threaded encoder writes the sizes of a block into its header, and the
//! single-threaded one does not. Here, liblzma encodes the LZMA2 data, and the container is written
//! according to The .xz File Format 1.2.1; "section" refers to it. The compressed data of one block
//! is in memory at a time.

use std::io::{self, Write};

use liblzma::stream::{Action, Filters, LzmaOptions, Status, Stream};

use super::xz::PRESET;
use crate::ReadAt;

/// The magic bytes of the stream header (section 2.1.1.1) and footer (section 2.1.2.4).
const HEADER_MAGIC: [u8; 6] = [0xFD, b'7', b'z', b'X', b'Z', 0];
const FOOTER_MAGIC: [u8; 2] = *b"YZ";
/// The stream flags for CRC64 checks (section 2.1.1.2).
const STREAM_FLAGS: [u8; 2] = [0, 4];
/// The block flags for one filter, and both sizes in the header (section 3.1.2).
const BLOCK_FLAGS: u8 = 0xC0;
/// The filter ID of LZMA2 and the size of its properties (section 5.3.1).
const LZMA2: [u8; 2] = [0x21, 1];
/// Encoded dictionary sizes: 8 MiB for preset 6, and the minimum of 4 KiB (section 5.3.1).
const PRESET_DICTIONARY: u8 = 22;
const SMALLEST_DICTIONARY: u8 = 0;
/// The size of a CRC64 in bytes.
const CHECK_BYTES: usize = 8;
/// Maximum size of an uncompressed LZMA2 chunk in bytes (liblzma, `lzma2_encoder.h`,
/// `LZMA2_CHUNK_MAX`).
const CHUNK_BYTES: usize = 1 << 16;
/// Maximum size in bytes of block header, padding and check that liblzma assumes
/// (`block_buffer_encoder.c`, `HEADERS_BOUND`).
const MAX_FRAME_BYTES: usize = 92;
/// The size of reads from the source in bytes.
const READ_BYTES: usize = 256 << 10;

/// Compresses a source into one stream with blocks of `block_bytes` uncompressed bytes.
///
/// # Errors
/// If the source cannot be read, or the target cannot be written.
pub(super) fn write_blocks(
    source: &dyn ReadAt,
    block_bytes: u64,
    target: &mut dyn Write,
) -> io::Result<()> {
    target.write_all(&HEADER_MAGIC)?;
    target.write_all(&STREAM_FLAGS)?;
    target.write_all(&crc32fast::hash(&STREAM_FLAGS).to_le_bytes())?;
    let mut index = XzIndex::default();
    let mut offset = 0;
    while offset < source.size_bytes() {
        let size_bytes = block_bytes.min(source.size_bytes() - offset);
        let block = XzBlock::compress(source, offset, size_bytes, block_bytes)?;
        index.add(block.write(target)?, size_bytes);
        offset += size_bytes;
    }
    index.write(target)
}

/// A compressed block.
struct XzBlock {
    /// The LZMA2 data.
    data: Vec<u8>,
    /// The encoded dictionary size.
    dictionary: u8,
    /// The uncompressed size.
    size_bytes: u64,
    header_bytes: usize,
    /// The CRC64 of the uncompressed content.
    check: [u8; CHECK_BYTES],
}

impl XzBlock {
    /// Compresses `size_bytes` bytes of a source from `offset`.
    fn compress(
        source: &dyn ReadAt,
        offset: u64,
        size_bytes: u64,
        block_bytes: u64,
    ) -> io::Result<Self> {
        let options = LzmaOptions::new_preset(PRESET).map_err(io::Error::other)?;
        let mut encoder =
            Stream::new_raw_encoder(Filters::new().lzma2(&options)).map_err(io::Error::other)?;
        let mut crc = Crc64::default();
        let max_bytes = max_block_bytes(usize::try_from(block_bytes).map_err(io::Error::other)?);
        // liblzma reserves header space for the largest possible sizes.
        let header_bytes = header_bytes(max_bytes as u64, block_bytes);
        let mut data: Vec<u8> = Vec::with_capacity(READ_BYTES);
        let mut input = vec![0; READ_BYTES];
        let mut position = 0;
        while position < size_bytes {
            let length = usize::try_from(size_bytes - position)
                .map_or(READ_BYTES, |rest| rest.min(READ_BYTES));
            source.read_exact_at(&mut input[..length], offset + position)?;
            crc.update(&input[..length]);
            encode(&mut encoder, &input[..length], Action::Run, &mut data)?;
            position += length as u64;
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
        // liblzma stores a block uncompressed if the compressed form does not fit into its buffer.
        if block.written_bytes() > max_bytes {
            block.into_stored(source, offset)
        } else {
            Ok(block)
        }
    }

    /// Replaces the data by uncompressed LZMA2 chunks (section 5.3.1; liblzma,
    /// `block_encode_uncompressed`).
    fn into_stored(mut self, source: &dyn ReadAt, offset: u64) -> io::Result<Self> {
        self.data.clear();
        let mut position = 0;
        while position < self.size_bytes {
            let length = usize::try_from(self.size_bytes - position)
                .map_or(CHUNK_BYTES, |rest| rest.min(CHUNK_BYTES));
            // The first chunk resets the dictionary.
            self.data.push(if position == 0 { 1 } else { 2 });
            let encoded_length = u16::try_from(length - 1).map_err(io::Error::other)?;
            self.data.extend(encoded_length.to_be_bytes());
            let start = self.data.len();
            self.data.resize(start + length, 0);
            source.read_exact_at(&mut self.data[start..], offset + position)?;
            position += length as u64;
        }
        self.data.push(0);
        self.dictionary = SMALLEST_DICTIONARY;
        self.header_bytes = header_bytes(self.data.len() as u64, self.size_bytes);
        Ok(self)
    }

    /// Returns the written size of the block in bytes.
    fn written_bytes(&self) -> usize {
        self.header_bytes + self.data.len().next_multiple_of(4) + CHECK_BYTES
    }

    /// Writes the block and returns its unpadded size in bytes (section 4.3).
    fn write(&self, target: &mut dyn Write) -> io::Result<u64> {
        let encoded_size = u8::try_from(self.header_bytes / 4 - 1).map_err(io::Error::other)?;
        let mut header = vec![encoded_size, BLOCK_FLAGS];
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

/// Encodes `input` and appends the output to `data`.
fn encode(
    encoder: &mut Stream,
    mut input: &[u8],
    action: Action,
    data: &mut Vec<u8>,
) -> io::Result<()> {
    loop {
        data.reserve(READ_BYTES);
        let before = encoder.total_in();
        let status = encoder
            .process_vec(input, data, action)
            .map_err(io::Error::other)?;
        let consumed = usize::try_from(encoder.total_in() - before).map_err(io::Error::other)?;
        input = &input[consumed..];
        let is_done = match action {
            Action::Finish => status == Status::StreamEnd,
            _ => input.is_empty(),
        };
        if is_done {
            return Ok(());
        }
    }
}

/// Returns the size in bytes of the header of a block with these sizes (section 3.1).
fn header_bytes(compressed_bytes: u64, size_bytes: u64) -> usize {
    // Header size, flags, both sizes, filter and CRC32.
    (2 + integer_bytes(compressed_bytes) + integer_bytes(size_bytes) + 3 + 4).next_multiple_of(4)
}

/// Returns the maximum size in bytes of a block with this uncompressed size (liblzma,
/// `lzma_block_buffer_bound64`).
fn max_block_bytes(block_bytes: usize) -> usize {
    let stored_bytes = block_bytes + block_bytes.div_ceil(CHUNK_BYTES) * 3 + 1;
    MAX_FRAME_BYTES + stored_bytes.next_multiple_of(4)
}

/// The index of a stream (section 4).
#[derive(Default)]
struct XzIndex {
    /// The unpadded and the uncompressed size of each block.
    blocks: Vec<(u64, u64)>,
}

impl XzIndex {
    /// Adds a block.
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
        let backward_size = u32::try_from(index.len() / 4 - 1).map_err(io::Error::other)?;
        let mut footer = backward_size.to_le_bytes().to_vec();
        footer.extend(STREAM_FLAGS);
        target.write_all(&crc32fast::hash(&footer).to_le_bytes())?;
        target.write_all(&footer)?;
        target.write_all(&FOOTER_MAGIC)
    }
}

/// Appends a variable-length integer: groups of seven bits, the least significant first (section
/// 1.2).
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

/// Returns the size of a variable-length integer in bytes.
fn integer_bytes(value: u64) -> usize {
    (64 - (value | 1).leading_zeros()).div_ceil(7) as usize
}

/// The state of a CRC64 with the reflected polynomial of ECMA-182 (section 6).
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
    fn update(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = CRC64_TABLE[usize::from(low_byte(self.0) ^ byte)] ^ self.0 >> 8;
        }
    }

    fn finish(self) -> [u8; CHECK_BYTES] {
        (!self.0).to_le_bytes()
    }
}
