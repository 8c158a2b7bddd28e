//! Integers in the class and byte order of a file.

/// The width of addresses (gABI, `EI_CLASS`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ElfClass {
    /// 32 bits.
    Elf32,
    /// 64 bits.
    Elf64,
}

/// The byte order of integers (gABI, `EI_DATA`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Endianness {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

/// The class and byte order of a file; reads and writes its integers.
///
/// An integer beyond the end of the bytes reads as 0 and is not written: callers check positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ElfFormat {
    /// The width of addresses.
    pub class: ElfClass,
    /// The byte order.
    pub endianness: Endianness,
}

impl ElfFormat {
    /// Returns the size of an address, offset or size field, in bytes.
    pub fn word_bytes(self) -> usize {
        match self.class {
            ElfClass::Elf32 => 4,
            ElfClass::Elf64 => 8,
        }
    }

    /// Returns `true` if addresses have 64 bits.
    pub fn is_64(self) -> bool {
        self.class == ElfClass::Elf64
    }

    /// Reads the 16-bit integer at a position.
    pub fn u16(self, bytes: &[u8], at: usize) -> u16 {
        let found = u16::from_le_bytes(chunk(bytes, at));
        match self.endianness {
            Endianness::Little => found,
            Endianness::Big => found.swap_bytes(),
        }
    }

    /// Reads the 32-bit integer at a position.
    pub fn u32(self, bytes: &[u8], at: usize) -> u32 {
        let found = u32::from_le_bytes(chunk(bytes, at));
        match self.endianness {
            Endianness::Little => found,
            Endianness::Big => found.swap_bytes(),
        }
    }

    /// Reads the 64-bit integer at a position.
    pub fn u64(self, bytes: &[u8], at: usize) -> u64 {
        let found = u64::from_le_bytes(chunk(bytes, at));
        match self.endianness {
            Endianness::Little => found,
            Endianness::Big => found.swap_bytes(),
        }
    }

    /// Reads the address, offset or size at a position.
    pub fn word(self, bytes: &[u8], at: usize) -> u64 {
        match self.class {
            ElfClass::Elf32 => self.u32(bytes, at).into(),
            ElfClass::Elf64 => self.u64(bytes, at),
        }
    }

    /// Writes a 16-bit integer.
    pub fn put_u16(self, bytes: &mut [u8], at: usize, value: u16) {
        self.put(bytes, at, 2, u64::from(value));
    }

    /// Writes a 32-bit integer.
    pub fn put_u32(self, bytes: &mut [u8], at: usize, value: u32) {
        self.put(bytes, at, 4, u64::from(value));
    }

    /// Writes a 64-bit integer.
    pub fn put_u64(self, bytes: &mut [u8], at: usize, value: u64) {
        self.put(bytes, at, 8, value);
    }

    /// Writes an address, offset or size.
    pub fn put_word(self, bytes: &mut [u8], at: usize, value: u64) {
        self.put(bytes, at, self.word_bytes(), value);
    }

    fn put(self, bytes: &mut [u8], at: usize, length: usize, value: u64) {
        let Some(place) = at
            .checked_add(length)
            .and_then(|end| bytes.get_mut(at..end))
        else {
            return;
        };
        match self.endianness {
            Endianness::Little => place.copy_from_slice(&value.to_le_bytes()[..length]),
            Endianness::Big => place.copy_from_slice(&value.to_be_bytes()[8 - length..]),
        }
    }
}

/// Returns the bytes at a position, or zeros beyond the end.
fn chunk<const BYTES: usize>(bytes: &[u8], at: usize) -> [u8; BYTES] {
    let rest = bytes.get(at..).unwrap_or_default();
    rest.first_chunk().copied().unwrap_or([0; BYTES])
}

#[cfg(test)]
mod tests {
    use super::{ElfClass, ElfFormat, Endianness};

    #[test]
    fn numbers_are_written_as_they_are_read_and_none_beyond_the_end() {
        for (class, endian) in [
            (ElfClass::Elf32, Endianness::Little),
            (ElfClass::Elf64, Endianness::Big),
        ] {
            let (format, mut bytes) = (
                ElfFormat {
                    class,
                    endianness: endian,
                },
                [0_u8; 10],
            );
            format.put_u32(&mut bytes, 1, 0x0102_0304);
            assert_eq!(bytes[1], if endian == Endianness::Big { 1 } else { 4 });
            assert_eq!(
                (
                    format.u32(&bytes, 1),
                    format.u16(&bytes, 9),
                    format.u64(&bytes, usize::MAX)
                ),
                (0x0102_0304, 0, 0)
            );
            format.put_word(&mut bytes, 8, 7);
            assert_eq!(bytes[8..], [0, 0]);
        }
    }
}
