//! Section headers.

use super::{Class, Format};

/// Kinds of sections (gABI, chapter 4, `sh_type`).
pub mod section_type {
    /// An unused entry.
    pub const NULL: u32 = 0;
    /// Symbols for linking.
    pub const SYMTAB: u32 = 2;
    /// Texts.
    pub const STRTAB: u32 = 3;
    /// The hash table of symbols.
    pub const HASH: u32 = 5;
    /// Dynamic entries.
    pub const DYNAMIC: u32 = 6;
    /// Takes no bytes of the file.
    pub const NOBITS: u32 = 8;
    /// Symbols for loading.
    pub const DYNSYM: u32 = 11;
}

/// The section is in memory when the program runs (gABI, `SHF_ALLOC`).
const ALLOC: u64 = 2;
/// It holds code (gABI, `SHF_EXECINSTR`).
const CODE: u64 = 4;

/// A section header with its name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Section {
    /// The name; where it cannot be read, empty.
    pub name: String,
    /// `sh_name`: where its name begins.
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

impl Section {
    /// Bytes of a section header of this class.
    pub fn bytes(class: Class) -> usize {
        match class {
            Class::Elf32 => 40,
            Class::Elf64 => 64,
        }
    }

    /// Reads one, without its name, from the start of these bytes.
    pub fn parse(format: Format, bytes: &[u8]) -> Self {
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

    /// The bytes of this header.
    pub fn to_bytes(&self, format: Format) -> Vec<u8> {
        let word = format.word_bytes();
        let at = |words: usize, halves: usize| words * word + halves * 4;
        let mut bytes = vec![0; Self::bytes(format.class)];
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

    /// Whether it is in memory when the program runs.
    pub fn is_alloc(&self) -> bool {
        self.flags & ALLOC != 0
    }

    /// Whether it holds code.
    pub fn is_code(&self) -> bool {
        self.flags & CODE != 0
    }

    /// Whether it takes no bytes of the file.
    pub fn is_nobits(&self) -> bool {
        self.kind == section_type::NOBITS
    }
}
