//! Program headers.

use super::{Class, Format};

/// Kinds of segments (gABI, chapter 5, `p_type`).
pub mod segment_type {
    /// An unused entry.
    pub const NULL: u32 = 0;
    /// Is mapped into memory.
    pub const LOAD: u32 = 1;
    /// The dynamic entries.
    pub const DYNAMIC: u32 = 2;
    /// The name of the program interpreter.
    pub const INTERP: u32 = 3;
    /// Notes.
    pub const NOTE: u32 = 4;
    /// The program headers themselves.
    pub const PHDR: u32 = 6;
    /// Thread-local storage.
    pub const TLS: u32 = 7;
    /// Whether the stack may be executed.
    pub const GNU_STACK: u32 = 0x6474_e551;
    /// What becomes read-only after relocating.
    pub const GNU_RELRO: u32 = 0x6474_e552;
}

/// Permissions (gABI, chapter 5, `p_flags`).
pub mod segment_flag {
    /// May be executed.
    pub const EXECUTE: u32 = 1;
    /// May be written.
    pub const WRITE: u32 = 2;
    /// May be read.
    pub const READ: u32 = 4;
}

/// A program header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Segment {
    /// `p_type`.
    pub kind: u32,
    /// `p_flags`.
    pub flags: u32,
    /// `p_offset`.
    pub offset: u64,
    /// `p_vaddr`.
    pub address: u64,
    /// `p_paddr`.
    pub physical: u64,
    /// `p_filesz`.
    pub file_size: u64,
    /// `p_memsz`.
    pub memory_size: u64,
    /// `p_align`.
    pub align: u64,
}

impl Segment {
    /// Bytes of a program header of this class.
    pub fn bytes(class: Class) -> usize {
        match class {
            Class::Elf32 => 32,
            Class::Elf64 => 56,
        }
    }

    /// Reads one from the start of these bytes.
    pub fn parse(format: Format, bytes: &[u8]) -> Self {
        let u32 = |at| format.u32(bytes, at);
        let word = |at| format.word(bytes, at);
        match format.class {
            Class::Elf32 => Self {
                kind: u32(0),
                offset: word(4),
                address: word(8),
                physical: word(12),
                file_size: word(16),
                memory_size: word(20),
                flags: u32(24),
                align: word(28),
            },
            Class::Elf64 => Self {
                kind: u32(0),
                flags: u32(4),
                offset: word(8),
                address: word(16),
                physical: word(24),
                file_size: word(32),
                memory_size: word(40),
                align: word(48),
            },
        }
    }

    /// The bytes of this header.
    pub fn to_bytes(&self, format: Format) -> Vec<u8> {
        let mut bytes = vec![0; Self::bytes(format.class)];
        format.put_u32(&mut bytes, 0, self.kind);
        let (words, flags) = match format.class {
            Class::Elf32 => ([4, 8, 12, 16, 20, 28], 24),
            Class::Elf64 => ([8, 16, 24, 32, 40, 48], 4),
        };
        format.put_u32(&mut bytes, flags, self.flags);
        let values = [
            self.offset,
            self.address,
            self.physical,
            self.file_size,
            self.memory_size,
            self.align,
        ];
        for (at, value) in words.into_iter().zip(values) {
            format.put_word(&mut bytes, at, value);
        }
        bytes
    }

    /// Whether it is mapped into memory.
    pub fn is_load(&self) -> bool {
        self.kind == segment_type::LOAD
    }

    /// Where its bytes in the file end.
    pub fn file_end(&self) -> u64 {
        self.offset.saturating_add(self.file_size)
    }

    /// Where it ends in memory.
    pub fn memory_end(&self) -> u64 {
        self.address.saturating_add(self.memory_size)
    }

    /// The offset in the file of an address that the file fills.
    pub fn file_offset(&self, address: u64) -> Option<u64> {
        let into = address
            .checked_sub(self.address)
            .filter(|into| *into < self.file_size)?;
        self.offset.checked_add(into)
    }
}
