//! Where the blocks of deflated data begin and end (RFC 1951).
//!
//! Only lengths are followed: no content is made, so that this takes about the time of inflating.

use std::io;
use std::ops::Range;

use super::limits::MAX_BLOCKS;
use rock_bytes::{PIECE_BYTES, ReadAt};

/// Blocks that follow one another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BlockRun {
    /// Their place in the data, in bits from its start.
    pub(super) bits: Range<u64>,
    /// What they inflate to: its place in the content.
    pub(super) content: Range<u64>,
    /// Whether it is a block that is not compressed, and lies at whole bytes.
    pub(super) is_stored: bool,
}

/// Deflated data, as far as its blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BlockIndex {
    /// All of the data and all of the content, in order.
    pub(super) runs: Vec<BlockRun>,
    /// The bit that says of the last block that it is the last.
    pub(super) final_bit: u64,
}

/// Blocks are told together until they inflate to so much: finer ones are of no use.
const STRETCH_BYTES: u64 = 64 << 10;

/// The blocks of deflated data that lies in a file and inflates to `size_bytes`, or `None` where it
/// is damaged or has blocks without number.
///
/// # Errors
/// When the file cannot be read.
pub(super) fn stretches(
    source: &dyn ReadAt,
    data: Range<u64>,
    size_bytes: u64,
) -> io::Result<Option<BlockIndex>> {
    match Walk::new(source, data, size_bytes).all() {
        Ok(stretches) => Ok(Some(stretches)),
        Err(Stop::Damaged) => Ok(None),
        Err(Stop::Read(error)) => Err(error),
    }
}

/// Why the end was not reached.
enum Stop {
    Damaged,
    Read(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Read(error)
    }
}

/// Bits of the data, the lowest of each byte first.
struct Bits<'s> {
    source: &'s dyn ReadAt,
    /// The rest of the data that is not in `piece`.
    rest: Range<u64>,
    piece: Vec<u8>,
    at: usize,
    /// Bits that were taken from `piece` and not yet used; those above `count` are zeros.
    held: u64,
    count: u32,
    /// How many bytes went into `held`. Behind the end they are zeros.
    loaded: u64,
    length: u64,
}

impl Bits<'_> {
    /// Sees to it that at least 56 bits are held.
    fn fill(&mut self) -> Result<(), Stop> {
        if let Some(eight) = self.piece.get(self.at..self.at + 8) {
            let eight = u64::from_le_bytes(eight.try_into().expect("they are eight"));
            let bytes = (63 - self.count) >> 3;
            self.held |= eight << self.count;
            self.at += bytes as usize;
            self.loaded += u64::from(bytes);
            self.count += bytes * 8;
            self.held &= u64::MAX >> (64 - self.count);
            return Ok(());
        }
        while self.count <= 56 {
            let byte = match self.piece.get(self.at) {
                Some(byte) => *byte,
                None if self.rest.is_empty() => 0,
                None => {
                    self.read()?;
                    continue;
                }
            };
            self.at += 1;
            self.held |= u64::from(byte) << self.count;
            self.count += 8;
            self.loaded += 1;
        }
        // Zeros behind the end may be looked at, not used.
        if self.position() > self.length * 8 {
            Err(Stop::Damaged)
        } else {
            Ok(())
        }
    }

    fn read(&mut self) -> io::Result<()> {
        let length = (self.rest.end - self.rest.start).min(PIECE_BYTES as u64);
        self.piece
            .resize(usize::try_from(length).unwrap_or(PIECE_BYTES), 0);
        self.source
            .read_exact_at(&mut self.piece, self.rest.start)?;
        self.rest.start += length;
        self.at = 0;
        Ok(())
    }

    /// Uses bits that are held.
    fn take(&mut self, count: u32) -> u32 {
        let taken = self.held & ((1 << count) - 1);
        self.held >>= count;
        self.count -= count;
        u32::try_from(taken).unwrap_or(u32::MAX)
    }

    /// How many bits were used.
    fn position(&self) -> u64 {
        self.loaded * 8 - u64::from(self.count)
    }

    /// Goes on to the next whole byte and over so many bytes.
    fn skip_bytes(&mut self, bytes: u64) -> Result<(), Stop> {
        self.take(self.count % 8);
        let held = u64::from(self.count / 8).min(bytes);
        self.take(u32::try_from(held * 8).unwrap_or(0));
        let mut left = bytes - held;
        self.loaded += left;
        let here = (self.piece.len() - self.at.min(self.piece.len())) as u64;
        let inside = left.min(here);
        self.at += usize::try_from(inside).unwrap_or(0);
        left -= inside;
        self.rest.start = self.rest.start.saturating_add(left).min(self.rest.end);
        if self.position() > self.length * 8 {
            Err(Stop::Damaged)
        } else {
            Ok(())
        }
    }
}

/// Codes up to this length are looked up, longer ones are searched; few are.
const LOOKED_UP: u32 = 11;
/// The longest code (RFC 1951, 3.2.7).
const LONGEST: usize = 15;
/// Symbols of literals and lengths, and of distances (RFC 1951, 3.2.5).
const LITERALS: usize = 288;
const DISTANCES: usize = 30;
const END_OF_BLOCK: usize = 256;

/// A Huffman code (RFC 1951, 3.2.2).
struct Code {
    /// By the next bits: symbol and length of the code, zero where it is longer.
    table: Box<[u16; 1 << LOOKED_UP]>,
    counts: [u16; LONGEST + 1],
    symbols: [u16; LITERALS],
}

impl Code {
    fn new() -> Self {
        Self {
            table: Box::new([0; 1 << LOOKED_UP]),
            counts: [0; LONGEST + 1],
            symbols: [0; LITERALS],
        }
    }

    /// The code with these lengths, zero for symbols that have none.
    fn set(&mut self, lengths: &[u8]) -> Result<(), Stop> {
        self.counts = [0; LONGEST + 1];
        for length in lengths {
            self.counts[usize::from(*length)] += 1;
        }
        self.counts[0] = 0;
        let mut left = 1_i32;
        let (mut next_place, mut next_code) = ([0_u16; LONGEST + 2], [0_u32; LONGEST + 2]);
        for length in 1..=LONGEST {
            left = (left << 1) - i32::from(self.counts[length]);
            if left < 0 {
                return Err(Stop::Damaged);
            }
            next_place[length + 1] = next_place[length] + self.counts[length];
            next_code[length + 1] = (next_code[length] + u32::from(self.counts[length])) << 1;
        }
        self.table.fill(0);
        for (symbol, length) in (0_u16..).zip(lengths) {
            let long = usize::from(*length);
            if long == 0 {
                continue;
            }
            self.symbols[usize::from(next_place[long])] = symbol;
            next_place[long] += 1;
            let code = next_code[long];
            next_code[long] += 1;
            if u32::from(*length) <= LOOKED_UP {
                // Codes come with their highest bit first.
                let reversed = code.reverse_bits() >> (32 - u32::from(*length));
                let entry = symbol << 4 | u16::from(*length);
                (reversed as usize..1 << LOOKED_UP)
                    .step_by(1 << length)
                    .for_each(|at| self.table[at] = entry);
            }
        }
        Ok(())
    }

    /// The next symbol; as many bits as the longest code has must be held.
    #[inline]
    fn symbol(&self, bits: &mut Bits<'_>) -> Result<usize, Stop> {
        let entry = self.table[(bits.held & ((1 << LOOKED_UP) - 1)) as usize];
        if entry != 0 {
            bits.take(u32::from(entry & 15));
            return Ok(usize::from(entry >> 4));
        }
        let (mut code, mut first, mut place) = (0_u32, 0_u32, 0_u32);
        for count in &self.counts[1..] {
            code = code << 1 | bits.take(1);
            let count = u32::from(*count);
            if code < first + count {
                return Ok(usize::from(self.symbols[(place + code - first) as usize]));
            }
            place += count;
            first = (first + count) << 1;
        }
        Err(Stop::Damaged)
    }
}

/// Bits that follow a length symbol from 257 on, and the least length (RFC 1951, 3.2.5).
const LENGTHS: [(u8, u16); 29] = [
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
/// The order of the lengths of code-length codes (RFC 1951, 3.2.7).
const ORDER: [usize; 19] = [
    16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15,
];

struct Walk<'s> {
    bits: Bits<'s>,
    size_bytes: u64,
    literals: Code,
    distances: Code,
    found: BlockIndex,
    /// How much of the content was passed.
    passed: u64,
    blocks: u32,
}

impl<'s> Walk<'s> {
    fn new(source: &'s dyn ReadAt, data: Range<u64>, size_bytes: u64) -> Self {
        let length = data.end - data.start;
        let bits = Bits {
            source,
            rest: data,
            piece: Vec::new(),
            at: 0,
            held: 0,
            count: 0,
            loaded: 0,
            length,
        };
        let found = BlockIndex {
            runs: Vec::new(),
            final_bit: 0,
        };
        Self {
            bits,
            size_bytes,
            literals: Code::new(),
            distances: Code::new(),
            found,
            passed: 0,
            blocks: 0,
        }
    }

    fn all(mut self) -> Result<BlockIndex, Stop> {
        loop {
            let (from, passed) = (self.bits.position(), self.passed);
            self.bits.fill()?;
            let is_last = self.bits.take(1) == 1;
            let kind = self.bits.take(2);
            match kind {
                0 => self.stored()?,
                1 => {
                    self.fixed()?;
                    self.compressed()?;
                }
                2 => {
                    self.dynamic()?;
                    self.compressed()?;
                }
                _ => return Err(Stop::Damaged),
            }
            let (to, is_stored) = (self.bits.position(), kind == 0);
            self.blocks += 1;
            if to > self.bits.length * 8
                || self.passed > self.size_bytes
                || self.blocks > MAX_BLOCKS
            {
                return Err(Stop::Damaged);
            }
            match self.found.runs.last_mut() {
                Some(last)
                    if !is_stored
                        && !last.is_stored
                        && last.content.end - last.content.start < STRETCH_BYTES =>
                {
                    last.bits.end = to;
                    last.content.end = self.passed;
                }
                _ => {
                    let content = passed..self.passed;
                    self.found.runs.push(BlockRun {
                        bits: from..to,
                        content,
                        is_stored,
                    });
                }
            }
            if is_last {
                self.found.final_bit = from;
                let is_whole = self.passed == self.size_bytes && to.div_ceil(8) == self.bits.length;
                return if is_whole {
                    Ok(self.found)
                } else {
                    Err(Stop::Damaged)
                };
            }
        }
    }

    fn stored(&mut self) -> Result<(), Stop> {
        self.bits.skip_bytes(0)?;
        self.bits.fill()?;
        let (length, complement) = (self.bits.take(16), self.bits.take(16));
        if length != !complement & 0xffff {
            return Err(Stop::Damaged);
        }
        self.passed += u64::from(length);
        self.bits.skip_bytes(u64::from(length))
    }

    fn fixed(&mut self) -> Result<(), Stop> {
        let mut lengths = [8_u8; LITERALS];
        lengths[144..256].fill(9);
        lengths[256..280].fill(7);
        self.literals.set(&lengths)?;
        self.distances.set(&[5; DISTANCES])
    }

    fn dynamic(&mut self) -> Result<(), Stop> {
        self.bits.fill()?;
        let (literals, distances) = (
            self.bits.take(5) as usize + 257,
            self.bits.take(5) as usize + 1,
        );
        let given = self.bits.take(4) as usize + 4;
        if literals > LITERALS - 2 || distances > DISTANCES {
            return Err(Stop::Damaged);
        }
        let mut lengths = [0_u8; 19];
        for place in &ORDER[..given] {
            self.bits.fill()?;
            lengths[*place] = u8::try_from(self.bits.take(3)).unwrap_or(0);
        }
        self.literals.set(&lengths)?;
        let mut lengths = [0_u8; LITERALS + DISTANCES];
        let mut at = 0;
        while at < literals + distances {
            self.bits.fill()?;
            let symbol = self.literals.symbol(&mut self.bits)?;
            let (length, count) = match symbol {
                16 if at == 0 => return Err(Stop::Damaged),
                16 => (lengths[at - 1], 3 + self.bits.take(2)),
                17 => (0, 3 + self.bits.take(3)),
                18 => (0, 11 + self.bits.take(7)),
                length => (u8::try_from(length).unwrap_or(0), 1),
            };
            let end = at + count as usize;
            if end > literals + distances {
                return Err(Stop::Damaged);
            }
            lengths[at..end].fill(length);
            at = end;
        }
        if lengths[END_OF_BLOCK] == 0 {
            return Err(Stop::Damaged);
        }
        self.literals.set(&lengths[..literals])?;
        self.distances.set(&lengths[literals..literals + distances])
    }

    fn compressed(&mut self) -> Result<(), Stop> {
        loop {
            self.bits.fill()?;
            // 56 bits are enough for a literal, and for a length with its distance: 15 + 5 + 15 +
            // 13.
            let mut symbol = self.literals.symbol(&mut self.bits)?;
            if symbol < END_OF_BLOCK {
                self.passed += 1;
                if self.bits.count < 48 {
                    continue;
                }
                symbol = self.literals.symbol(&mut self.bits)?;
                if symbol < END_OF_BLOCK {
                    self.passed += 1;
                    continue;
                }
            }
            if symbol == END_OF_BLOCK {
                return Ok(());
            }
            let (extra, least) = *LENGTHS.get(symbol - 257).ok_or(Stop::Damaged)?;
            self.passed += u64::from(least) + u64::from(self.bits.take(u32::from(extra)));
            let distance = self.distances.symbol(&mut self.bits)?;
            let extra = (distance / 2).saturating_sub(1);
            self.bits.take(u32::try_from(extra).unwrap_or(0));
            if distance >= DISTANCES || self.passed > self.size_bytes {
                return Err(Stop::Damaged);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_BLOCKS, stretches};

    #[test]
    fn data_with_the_most_blocks_is_followed_and_data_with_more_is_not() {
        // Stored blocks without content (RFC 1951, 3.2.4); the last one has the lowest bit set.
        let blocks = |count: u32| {
            let mut data = [0, 0, 0, 0xff, 0xff].repeat(usize::try_from(count).unwrap());
            let last = data.len() - 5;
            data[last] = 1;
            let range = 0..data.len() as u64;
            stretches(&data, range, 0).unwrap().is_some()
        };
        assert_eq!((blocks(MAX_BLOCKS), blocks(MAX_BLOCKS + 1)), (true, false));
    }
}
