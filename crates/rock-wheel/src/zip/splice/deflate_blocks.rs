//! An index of the DEFLATE blocks of a stream (RFC 1951).
//!
//! The scanner decodes symbols but produces no content; this takes about as long as inflating.

use std::io;
use std::ops::Range;

use super::super::limits::MAX_BLOCKS;
use rock_bytes::{CHUNK_BYTES, ReadAt};

/// A sequence of DEFLATE blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BlockRun {
    /// Its bits, from the start of the stream.
    pub(super) bits: Range<u64>,
    /// The range of the content that it inflates to.
    pub(super) content: Range<u64>,
    /// Whether it is a stored block, whose data is aligned to bytes.
    pub(super) is_stored: bool,
}

/// The blocks of a deflated stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BlockIndex {
    /// Runs in order, which cover the whole stream and the whole content.
    pub(super) runs: Vec<BlockRun>,
    /// Position of the last block's BFINAL bit, in bits from the start of the stream.
    pub(super) final_bit: u64,
}

/// Content size up to which blocks are joined to one run: shorter runs are not worth copying.
const MIN_RUN_BYTES: u64 = 64 << 10;

impl BlockIndex {
    /// Reads the blocks of a deflated stream that is at the range `data` of `source` and inflates to
    /// `size_bytes`. Returns `None` if it is damaged or has more than [`MAX_BLOCKS`] blocks.
    ///
    /// # Errors
    /// Fails if the source cannot be read.
    pub(super) fn read(
        source: &dyn ReadAt,
        data: Range<u64>,
        size_bytes: u64,
    ) -> io::Result<Option<Self>> {
        match BlockScanner::new(source, data, size_bytes).scan() {
            Ok(index) => Ok(Some(index)),
            Err(ScanError::Damaged) => Ok(None),
            Err(ScanError::Read(error)) => Err(error),
        }
    }
}

/// The reason why a scan ended early.
enum ScanError {
    Damaged,
    Read(io::Error),
}

impl From<io::Error> for ScanError {
    fn from(error: io::Error) -> Self {
        Self::Read(error)
    }
}

/// A reader of bits, the lowest of each byte first.
struct BitReader<'s> {
    source: &'s dyn ReadAt,
    /// The range of `source` that is not read yet.
    rest: Range<u64>,
    chunk: Vec<u8>,
    /// Position in `chunk`.
    at: usize,
    /// The next bits; those above `count` are zero.
    bits: u64,
    count: u32,
    /// Number of bytes that were moved to `bits`, with zeros after the end.
    loaded: u64,
    /// Length of the stream in bytes.
    length: u64,
}

impl BitReader<'_> {
    /// Loads bits until there are at least 56.
    fn fill(&mut self) -> Result<(), ScanError> {
        if let Some(eight) = self.chunk.get(self.at..self.at + 8) {
            let eight = u64::from_le_bytes(eight.try_into().expect("they are eight"));
            let bytes = (63 - self.count) >> 3;
            self.bits |= eight << self.count;
            self.at += bytes as usize;
            self.loaded += u64::from(bytes);
            self.count += bytes * 8;
            self.bits &= u64::MAX >> (64 - self.count);
            return Ok(());
        }
        while self.count <= 56 {
            let byte = match self.chunk.get(self.at) {
                Some(byte) => *byte,
                None if self.rest.is_empty() => 0,
                None => {
                    self.read()?;
                    continue;
                }
            };
            self.at += 1;
            self.bits |= u64::from(byte) << self.count;
            self.count += 8;
            self.loaded += 1;
        }
        // Zeros after the end may be loaded, but not consumed.
        if self.position() > self.length * 8 {
            Err(ScanError::Damaged)
        } else {
            Ok(())
        }
    }

    fn read(&mut self) -> io::Result<()> {
        let length = (self.rest.end - self.rest.start).min(CHUNK_BYTES as u64);
        self.chunk
            .resize(usize::try_from(length).unwrap_or(CHUNK_BYTES), 0);
        self.source
            .read_exact_at(&mut self.chunk, self.rest.start)?;
        self.rest.start += length;
        self.at = 0;
        Ok(())
    }

    /// Consumes loaded bits.
    fn take(&mut self, count: u32) -> u32 {
        let taken = self.bits & ((1 << count) - 1);
        self.bits >>= count;
        self.count -= count;
        u32::try_from(taken).unwrap_or(u32::MAX)
    }

    /// Returns the number of bits consumed.
    fn position(&self) -> u64 {
        self.loaded * 8 - u64::from(self.count)
    }

    /// Skips to the next byte boundary, and then `bytes` bytes.
    fn skip_bytes(&mut self, bytes: u64) -> Result<(), ScanError> {
        self.take(self.count % 8);
        let loaded = u64::from(self.count / 8).min(bytes);
        self.take(u32::try_from(loaded * 8).unwrap_or(0));
        let mut left = bytes - loaded;
        self.loaded += left;
        let available = (self.chunk.len() - self.at.min(self.chunk.len())) as u64;
        let in_chunk = left.min(available);
        self.at += usize::try_from(in_chunk).unwrap_or(0);
        left -= in_chunk;
        self.rest.start = self.rest.start.saturating_add(left).min(self.rest.end);
        if self.position() > self.length * 8 {
            Err(ScanError::Damaged)
        } else {
            Ok(())
        }
    }
}

/// Codes up to this length are found in a table; longer ones are rare, and searched.
const TABLE_BITS: u32 = 11;
/// Length of the longest code (RFC 1951, 3.2.7).
const MAX_CODE_BITS: usize = 15;
/// Number of literal and length symbols, and of distance symbols (RFC 1951, 3.2.5).
const LITERAL_SYMBOLS: usize = 288;
const DISTANCE_SYMBOLS: usize = 30;
const END_OF_BLOCK: usize = 256;

/// A Huffman code (RFC 1951, 3.2.2).
struct HuffmanCode {
    /// Symbol and code length for the next bits; zero if the code is longer.
    table: Box<[u16; 1 << TABLE_BITS]>,
    counts: [u16; MAX_CODE_BITS + 1],
    symbols: [u16; LITERAL_SYMBOLS],
}

impl HuffmanCode {
    fn new() -> Self {
        Self {
            table: Box::new([0; 1 << TABLE_BITS]),
            counts: [0; MAX_CODE_BITS + 1],
            symbols: [0; LITERAL_SYMBOLS],
        }
    }

    /// Sets the code lengths of the symbols; zero for symbols that are not used.
    fn set(&mut self, lengths: &[u8]) -> Result<(), ScanError> {
        self.counts = [0; MAX_CODE_BITS + 1];
        for length in lengths {
            self.counts[usize::from(*length)] += 1;
        }
        self.counts[0] = 0;
        let mut left = 1_i32;
        let (mut next_index, mut next_code) =
            ([0_u16; MAX_CODE_BITS + 2], [0_u32; MAX_CODE_BITS + 2]);
        for length in 1..=MAX_CODE_BITS {
            left = (left << 1) - i32::from(self.counts[length]);
            if left < 0 {
                return Err(ScanError::Damaged);
            }
            next_index[length + 1] = next_index[length] + self.counts[length];
            next_code[length + 1] = (next_code[length] + u32::from(self.counts[length])) << 1;
        }
        self.table.fill(0);
        for (symbol, length) in (0_u16..).zip(lengths) {
            let bits = usize::from(*length);
            if bits == 0 {
                continue;
            }
            self.symbols[usize::from(next_index[bits])] = symbol;
            next_index[bits] += 1;
            let code = next_code[bits];
            next_code[bits] += 1;
            if u32::from(*length) <= TABLE_BITS {
                // Codes are packed with their most significant bit first (RFC 1951, 3.1.1).
                let reversed = code.reverse_bits() >> (32 - u32::from(*length));
                let entry = symbol << 4 | u16::from(*length);
                (reversed as usize..1 << TABLE_BITS)
                    .step_by(1 << length)
                    .for_each(|at| self.table[at] = entry);
            }
        }
        Ok(())
    }

    /// Decodes the next symbol; at least [`MAX_CODE_BITS`] bits must be loaded.
    #[inline]
    fn symbol(&self, bits: &mut BitReader<'_>) -> Result<usize, ScanError> {
        let entry = self.table[(bits.bits & ((1 << TABLE_BITS) - 1)) as usize];
        if entry != 0 {
            bits.take(u32::from(entry & 15));
            return Ok(usize::from(entry >> 4));
        }
        let (mut code, mut first, mut index) = (0_u32, 0_u32, 0_u32);
        for count in &self.counts[1..] {
            code = code << 1 | bits.take(1);
            let count = u32::from(*count);
            if code < first + count {
                return Ok(usize::from(self.symbols[(index + code - first) as usize]));
            }
            index += count;
            first = (first + count) << 1;
        }
        Err(ScanError::Damaged)
    }
}

/// Extra bits and base length of each length symbol, from 257 on (RFC 1951, 3.2.5).
const LENGTH_CODES: [(u8, u16); 29] = [
    (0, 3),
    (0, 4),
    (0, 5),
    (0, 6),
    (0, 7),
    (0, 8),
    (0, 9),
    (0, 10),
    (1, 11),
    (1, 13),
    (1, 15),
    (1, 17),
    (2, 19),
    (2, 23),
    (2, 27),
    (2, 31),
    (3, 35),
    (3, 43),
    (3, 51),
    (3, 59),
    (4, 67),
    (4, 83),
    (4, 99),
    (4, 115),
    (5, 131),
    (5, 163),
    (5, 195),
    (5, 227),
    (0, 258),
];
/// Order of the code lengths for the code length alphabet (RFC 1951, 3.2.7).
const CODE_LENGTH_ORDER: [usize; 19] = [
    16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15,
];

/// Finds the blocks of a stream.
struct BlockScanner<'s> {
    bits: BitReader<'s>,
    size_bytes: u64,
    literals: HuffmanCode,
    distances: HuffmanCode,
    index: BlockIndex,
    /// Size of the content of the blocks so far.
    content_bytes: u64,
    blocks: u32,
}

impl<'s> BlockScanner<'s> {
    fn new(source: &'s dyn ReadAt, data: Range<u64>, size_bytes: u64) -> Self {
        let length = data.end - data.start;
        let bits = BitReader {
            source,
            rest: data,
            chunk: Vec::new(),
            at: 0,
            bits: 0,
            count: 0,
            loaded: 0,
            length,
        };
        let index = BlockIndex {
            runs: Vec::new(),
            final_bit: 0,
        };
        Self {
            bits,
            size_bytes,
            literals: HuffmanCode::new(),
            distances: HuffmanCode::new(),
            index,
            content_bytes: 0,
            blocks: 0,
        }
    }

    /// Scans the whole stream.
    fn scan(mut self) -> Result<BlockIndex, ScanError> {
        loop {
            let (start, content_start) = (self.bits.position(), self.content_bytes);
            self.bits.fill()?;
            let is_last = self.bits.take(1) == 1;
            let kind = self.bits.take(2);
            match kind {
                0 => self.skip_stored()?,
                1 => {
                    self.set_fixed_codes()?;
                    self.skip_symbols()?;
                }
                2 => {
                    self.read_dynamic_codes()?;
                    self.skip_symbols()?;
                }
                _ => return Err(ScanError::Damaged),
            }
            let (end, is_stored) = (self.bits.position(), kind == 0);
            self.blocks += 1;
            if end > self.bits.length * 8
                || self.content_bytes > self.size_bytes
                || self.blocks > MAX_BLOCKS
            {
                return Err(ScanError::Damaged);
            }
            match self.index.runs.last_mut() {
                Some(last)
                    if !is_stored
                        && !last.is_stored
                        && last.content.end - last.content.start < MIN_RUN_BYTES =>
                {
                    last.bits.end = end;
                    last.content.end = self.content_bytes;
                }
                _ => {
                    let content = content_start..self.content_bytes;
                    self.index.runs.push(BlockRun {
                        bits: start..end,
                        content,
                        is_stored,
                    });
                }
            }
            if is_last {
                self.index.final_bit = start;
                let is_complete =
                    self.content_bytes == self.size_bytes && end.div_ceil(8) == self.bits.length;
                return if is_complete {
                    Ok(self.index)
                } else {
                    Err(ScanError::Damaged)
                };
            }
        }
    }

    fn skip_stored(&mut self) -> Result<(), ScanError> {
        self.bits.skip_bytes(0)?;
        self.bits.fill()?;
        let (length, complement) = (self.bits.take(16), self.bits.take(16));
        if length != !complement & 0xffff {
            return Err(ScanError::Damaged);
        }
        self.content_bytes += u64::from(length);
        self.bits.skip_bytes(u64::from(length))
    }

    /// Sets the fixed codes (RFC 1951, 3.2.6).
    fn set_fixed_codes(&mut self) -> Result<(), ScanError> {
        let mut lengths = [8_u8; LITERAL_SYMBOLS];
        lengths[144..256].fill(9);
        lengths[256..280].fill(7);
        self.literals.set(&lengths)?;
        self.distances.set(&[5; DISTANCE_SYMBOLS])
    }

    /// Reads the codes of a dynamic block (RFC 1951, 3.2.7).
    fn read_dynamic_codes(&mut self) -> Result<(), ScanError> {
        self.bits.fill()?;
        let (literals, distances) = (
            self.bits.take(5) as usize + 257,
            self.bits.take(5) as usize + 1,
        );
        let code_lengths = self.bits.take(4) as usize + 4;
        if literals > LITERAL_SYMBOLS - 2 || distances > DISTANCE_SYMBOLS {
            return Err(ScanError::Damaged);
        }
        let mut lengths = [0_u8; 19];
        for place in &CODE_LENGTH_ORDER[..code_lengths] {
            self.bits.fill()?;
            lengths[*place] = u8::try_from(self.bits.take(3)).unwrap_or(0);
        }
        self.literals.set(&lengths)?;
        let mut lengths = [0_u8; LITERAL_SYMBOLS + DISTANCE_SYMBOLS];
        let mut at = 0;
        while at < literals + distances {
            self.bits.fill()?;
            let symbol = self.literals.symbol(&mut self.bits)?;
            let (length, count) = match symbol {
                16 if at == 0 => return Err(ScanError::Damaged),
                16 => (lengths[at - 1], 3 + self.bits.take(2)),
                17 => (0, 3 + self.bits.take(3)),
                18 => (0, 11 + self.bits.take(7)),
                length => (u8::try_from(length).unwrap_or(0), 1),
            };
            let end = at + count as usize;
            if end > literals + distances {
                return Err(ScanError::Damaged);
            }
            lengths[at..end].fill(length);
            at = end;
        }
        if lengths[END_OF_BLOCK] == 0 {
            return Err(ScanError::Damaged);
        }
        self.literals.set(&lengths[..literals])?;
        self.distances.set(&lengths[literals..literals + distances])
    }

    /// Skips symbols to the end of the block.
    fn skip_symbols(&mut self) -> Result<(), ScanError> {
        loop {
            self.bits.fill()?;
            // 56 bits suffice for a length with its distance, 15 + 5 + 15 + 13; so a literal
            // may precede it if 48 are left.
            let mut symbol = self.literals.symbol(&mut self.bits)?;
            if symbol < END_OF_BLOCK {
                self.content_bytes += 1;
                if self.bits.count < 48 {
                    continue;
                }
                symbol = self.literals.symbol(&mut self.bits)?;
                if symbol < END_OF_BLOCK {
                    self.content_bytes += 1;
                    continue;
                }
            }
            if symbol == END_OF_BLOCK {
                return Ok(());
            }
            let (extra, base) = *LENGTH_CODES.get(symbol - 257).ok_or(ScanError::Damaged)?;
            self.content_bytes += u64::from(base) + u64::from(self.bits.take(u32::from(extra)));
            let distance = self.distances.symbol(&mut self.bits)?;
            let extra = (distance / 2).saturating_sub(1);
            self.bits.take(u32::try_from(extra).unwrap_or(0));
            if distance >= DISTANCE_SYMBOLS || self.content_bytes > self.size_bytes {
                return Err(ScanError::Damaged);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{BlockIndex, MAX_BLOCKS};

    #[test]
    fn streams_have_at_most_1048576_blocks() {
        // Empty stored blocks (RFC 1951, 3.2.4); BFINAL, the lowest bit, is set in the last one.
        let blocks = |count: u32| {
            let mut data = [0, 0, 0, 0xff, 0xff].repeat(usize::try_from(count).unwrap());
            let last = data.len() - 5;
            data[last] = 1;
            let range = 0..data.len() as u64;
            BlockIndex::read(&data, range, 0).unwrap().is_some()
        };
        assert_eq!((blocks(MAX_BLOCKS), blocks(MAX_BLOCKS + 1)), (true, false));
    }
}
