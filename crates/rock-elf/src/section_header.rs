//! Section headers.

use super::{ElfClass, ElfFormat};

/// Values of `sh_type` (gABI, chapter 4).
pub mod section_type {
    /// An unused entry.
    pub const NULL: u32 = 0;
    /// Symbols for the link editor.
    pub const SYMTAB: u32 = 2;
    /// A string table.
    pub const STRTAB: u32 = 3;
    /// The symbol hash table.
    pub const HASH: u32 = 5;
    /// The dynamic section.
    pub const DYNAMIC: u32 = 6;
    /// Occupies no bytes of the file.
    pub const NOBITS: u32 = 8;
    /// Symbols for the dynamic linker.
    pub const DYNSYM: u32 = 11;
}

/// The section occupies memory at run time (gABI, `SHF_ALLOC`).
const ALLOC: u64 = 2;
/// The section contains code (gABI, `SHF_EXECINSTR`).
const CODE: u64 = 4;

/// A section header with its name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SectionHeader {
    /// The name; empty if it cannot be read.
    pub name: String,
    /// `sh_name`: offset of the name in the section with the names.
    pub name_offset: u32,
    /// `sh_type`.
    pub kind: u32,
    /// `sh_flags`.
    pub flags: u64,
    /// `sh_addr`.
    pub address: u64,
    /// `sh_offset`.
    pub offset: u64,
    /// `sh_size`.
    pub size: u64,
    /// `sh_link`.
    pub link: u32,
    /// `sh_info`.
    pub info: u32,
    /// `sh_addralign`.
    pub align: u64,
    /// `sh_entsize`.
    pub entry_size: u64,
}

impl SectionHeader {
    /// Returns the size of a section header of this class, in bytes.
    pub fn header_size(class: ElfClass) -> usize {
        match class {
            ElfClass::Elf32 => 40,
            ElfClass::Elf64 => 64,
        }
    }

    /// Parses a section header from the start of `bytes`. The name is left empty.
    pub fn parse(format: ElfFormat, bytes: &[u8]) -> Self {
        let word = format.word_bytes();
        let at = |words: usize, halves: usize| words * word + halves * 4;
        Self {
            name: String::new(),
            name_offset: format.u32(bytes, 0),
            kind: format.u32(bytes, 4),
            flags: format.word(bytes, 8),
            address: format.word(bytes, at(1, 2)),
            offset: format.word(bytes, at(2, 2)),
            size: format.word(bytes, at(3, 2)),
            link: format.u32(bytes, at(4, 2)),
            info: format.u32(bytes, at(4, 3)),
            align: format.word(bytes, at(4, 4)),
            entry_size: format.word(bytes, at(5, 4)),
        }
    }

    /// Serializes the section header.
    pub fn to_bytes(&self, format: ElfFormat) -> Vec<u8> {
        let word = format.word_bytes();
        let at = |words: usize, halves: usize| words * word + halves * 4;
        let mut bytes = vec![0; Self::header_size(format.class)];
        format.put_u32(&mut bytes, 0, self.name_offset);
        format.put_u32(&mut bytes, 4, self.kind);
        for (place, value) in [
            (8, self.flags),
            (at(1, 2), self.address),
            (at(2, 2), self.offset),
            (at(3, 2), self.size),
            (at(4, 4), self.align),
            (at(5, 4), self.entry_size),
        ] {
            format.put_word(&mut bytes, place, value);
        }
        format.put_u32(&mut bytes, at(4, 2), self.link);
        format.put_u32(&mut bytes, at(4, 3), self.info);
        bytes
    }

    /// Returns `true` if the section occupies memory at run time.
    pub fn is_alloc(&self) -> bool {
        self.flags & ALLOC != 0
    }

    /// Returns `true` if the section contains code.
    pub fn is_code(&self) -> bool {
        self.flags & CODE != 0
    }

    /// Returns `true` if the section occupies no bytes of the file.
    pub fn is_nobits(&self) -> bool {
        self.kind == section_type::NOBITS
    }
}
