//! Joins bits of deflated streams into bytes.

use std::ops::Range;

use super::super::super::WheelError;
use super::CopiedBits;
use rock_bytes::CHUNK_BYTES;

/// Bits that do not fill a byte yet.
#[derive(Debug, Default)]
pub(in super::super) struct BitBuffer {
    /// Bits above `count` are zero.
    bits: u64,
    count: u32,
}

/// An empty stored block from its LEN field on (RFC 1951, 3.2.4).
const EMPTY_BLOCK: [u8; 4] = [0, 0, 0xff, 0xff];

impl BitBuffer {
    /// Returns the bytes that end at a byte boundary: none, or an empty stored block.
    pub(in super::super) fn align(&mut self) -> Vec<u8> {
        if self.count == 0 {
            return Vec::new();
        }
        let bytes = (self.count + 3).div_ceil(8) as usize;
        let aligned = [&self.bits.to_le_bytes()[..bytes], &EMPTY_BLOCK].concat();
        *self = Self::default();
        aligned
    }

    /// Passes copied bits to `write`, as whole bytes, and clears the stream's BFINAL bit.
    ///
    /// # Errors
    /// Fails if the source cannot be read, or `write` fails.
    pub(in super::super) fn copy(
        &mut self,
        copied: &CopiedBits<'_>,
        mut write: impl FnMut(&[u8]) -> Result<(), WheelError>,
    ) -> Result<(), WheelError> {
        let bits = &copied.bits;
        let mut position = bits.start;
        let mut chunk = Vec::new();
        while position < bits.end {
            let first = position / 8;
            let length = (bits.end.div_ceil(8) - first).min(CHUNK_BYTES as u64);
            chunk.resize(usize::try_from(length).unwrap_or(CHUNK_BYTES), 0);
            copied
                .source
                .read_exact_at(&mut chunk, copied.offset + first)
                .map_err(WheelError::Read)?;
            let final_byte = (copied.final_bit / 8)
                .checked_sub(first)
                .and_then(|at| chunk.get_mut(usize::try_from(at).ok()?));
            if let Some(byte) = final_byte {
                *byte &= !(1 << (copied.final_bit % 8));
            }
            let end = bits.end.min((first + length) * 8);
            write(&self.push_bits(&chunk, position - first * 8..end - first * 8))?;
            position = end;
        }
        Ok(())
    }

    /// Appends a range of bits, and returns the bytes that are full.
    fn push_bits(&mut self, bytes: &[u8], bits: Range<u64>) -> Vec<u8> {
        let byte_index = |bit: u64| usize::try_from(bit / 8).unwrap_or(usize::MAX);
        let bit_index = |bit: u64| u32::try_from(bit % 8).unwrap_or(0);
        let (first, last) = (byte_index(bits.start), byte_index(bits.end));
        let skipped = bit_index(bits.start);
        let mut full = Vec::with_capacity(bytes.len() + 8);
        let mut at = first;
        if skipped > 0 && first < bytes.len() {
            let end = if last == first {
                bit_index(bits.end)
            } else {
                8
            };
            self.push(u64::from(bytes[first]) >> skipped, end - skipped, &mut full);
            at += 1;
        }
        let mut words = bytes.get(at..last).unwrap_or_default().chunks_exact(4);
        for word in &mut words {
            let word = u32::from_le_bytes(word.try_into().expect("the chunks have four bytes"));
            self.push(u64::from(word), 32, &mut full);
        }
        for byte in words.remainder() {
            self.push(u64::from(*byte), 8, &mut full);
        }
        let rest = bit_index(bits.end);
        if rest > 0 && last >= at {
            self.push(u64::from(bytes[last]), rest, &mut full);
        }
        full
    }

    /// Appends up to 32 bits; full bytes go to `full`.
    fn push(&mut self, bits: u64, count: u32, full: &mut Vec<u8>) {
        self.bits |= (bits & ((1 << count) - 1)) << self.count;
        self.count += count;
        let bytes = self.count / 8;
        full.extend_from_slice(&self.bits.to_le_bytes()[..bytes as usize]);
        self.bits = self.bits.checked_shr(bytes * 8).unwrap_or(0);
        self.count %= 8;
    }
}
