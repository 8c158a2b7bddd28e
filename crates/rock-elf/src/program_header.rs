//! Program headers.

use super::{ElfClass, ElfFormat};

/// Values of `p_type` (gABI, chapter 5).
pub mod segment_type {
    /// An unused entry.
    pub const NULL: u32 = 0;
    /// A segment that is mapped into memory.
    pub const LOAD: u32 = 1;
    /// The dynamic section.
    pub const DYNAMIC: u32 = 2;
    /// The path of the program interpreter.
    pub const INTERP: u32 = 3;
    /// Notes.
    pub const NOTE: u32 = 4;
    /// The program headers themselves.
    pub const PHDR: u32 = 6;
    /// Thread-local storage.
    pub const TLS: u32 = 7;
    /// Permissions of the stack.
    pub const GNU_STACK: u32 = 0x6474_e551;
    /// Memory that becomes read-only after relocation.
    pub const GNU_RELRO: u32 = 0x6474_e552;
}

/// Permission bits of `p_flags` (gABI, chapter 5).
pub mod segment_flag {
    /// Executable.
    pub const EXECUTE: u32 = 1;
    /// Writable.
    pub const WRITE: u32 = 2;
    /// Readable.
    pub const READ: u32 = 4;
}

/// A program header, which describes a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProgramHeader {
    /// `p_type`.
    pub kind: u32,
    /// `p_flags`.
    pub flags: u32,
    /// `p_offset`.
    pub offset: u64,
    /// `p_vaddr`.
    pub address: u64,
    /// `p_paddr`.
    pub physical_address: u64,
    /// `p_filesz`.
    pub file_size: u64,
    /// `p_memsz`.
    pub memory_size: u64,
    /// `p_align`.
    pub align: u64,
}

impl ProgramHeader {
    /// Returns the size of a program header of this class, in bytes.
    pub fn header_size(class: ElfClass) -> usize {
        match class {
            ElfClass::Elf32 => 32,
            ElfClass::Elf64 => 56,
        }
    }

    /// Parses a program header from the start of `bytes`.
    pub fn parse(format: ElfFormat, bytes: &[u8]) -> Self {
        let u32 = |at| format.u32(bytes, at);
        let word = |at| format.word(bytes, at);
        match format.class {
            ElfClass::Elf32 => Self {
                kind: u32(0),
                offset: word(4),
                address: word(8),
                physical_address: word(12),
                file_size: word(16),
                memory_size: word(20),
                flags: u32(24),
                align: word(28),
            },
            ElfClass::Elf64 => Self {
                kind: u32(0),
                flags: u32(4),
                offset: word(8),
                address: word(16),
                physical_address: word(24),
                file_size: word(32),
                memory_size: word(40),
                align: word(48),
            },
        }
    }

    /// Serializes the program header.
    pub fn to_bytes(&self, format: ElfFormat) -> Vec<u8> {
        let mut bytes = vec![0; Self::header_size(format.class)];
        format.put_u32(&mut bytes, 0, self.kind);
        let (words, flags) = match format.class {
            ElfClass::Elf32 => ([4, 8, 12, 16, 20, 28], 24),
            ElfClass::Elf64 => ([8, 16, 24, 32, 40, 48], 4),
        };
        format.put_u32(&mut bytes, flags, self.flags);
        let values = [
            self.offset,
            self.address,
            self.physical_address,
            self.file_size,
            self.memory_size,
            self.align,
        ];
        for (at, value) in words.into_iter().zip(values) {
            format.put_word(&mut bytes, at, value);
        }
        bytes
    }

    /// Returns `true` for a segment that is mapped into memory.
    pub fn is_load(&self) -> bool {
        self.kind == segment_type::LOAD
    }

    /// Returns the file offset at which the segment ends.
    pub fn file_end(&self) -> u64 {
        self.offset.saturating_add(self.file_size)
    }

    /// Returns the address at which the segment ends in memory.
    pub fn memory_end(&self) -> u64 {
        self.address.saturating_add(self.memory_size)
    }

    /// Returns the file offset of an address, if the segment maps it from the file.
    pub fn file_offset(&self, address: u64) -> Option<u64> {
        let into = address
            .checked_sub(self.address)
            .filter(|into| *into < self.file_size)?;
        self.offset.checked_add(into)
    }
}
