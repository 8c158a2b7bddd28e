//! The ELF header.

use super::{ElfClass, ElfError, ElfFormat, Endianness};
use rock_bytes::ReadAt;

/// The first bytes of every ELF file (gABI, `EI_MAG0` to `EI_MAG3`).
pub const MAGIC: [u8; 4] = *b"\x7fELF";

/// Values of `e_machine` (gABI, chapter 4, and its registry of machine numbers).
pub mod machine {
    /// Intel 80386.
    pub const I386: u16 = 3;
    /// PowerPC, 64 bits.
    pub const PPC64: u16 = 21;
    /// IBM S/390.
    pub const S390: u16 = 22;
    /// ARM, 32 bits.
    pub const ARM: u16 = 40;
    /// AMD x86-64.
    pub const X86_64: u16 = 62;
    /// ARM, 64 bits.
    pub const AARCH64: u16 = 183;
    /// AMD GPUs.
    pub const AMDGPU: u16 = 224;
    /// RISC-V.
    pub const RISCV: u16 = 243;
    /// `LoongArch`.
    pub const LOONGARCH: u16 = 258;
}

/// Returns `true` if the first bytes of a file are the magic number of ELF.
pub fn is_elf(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

/// The ELF header (gABI, chapter 4, "ELF Header").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ElfHeader {
    /// Class and byte order.
    pub format: ElfFormat,
    /// `EI_OSABI`.
    pub os_abi: u8,
    /// `EI_ABIVERSION`.
    pub abi_version: u8,
    /// `e_type`.
    pub kind: u16,
    /// `e_machine`.
    pub machine: u16,
    /// `e_flags`.
    pub flags: u32,
    /// `e_phoff`: file offset of the program headers.
    pub segments_offset: u64,
    /// `e_phnum`: number of program headers.
    pub segment_count: u16,
    /// `e_shoff`: file offset of the section headers; 0 if there are none.
    pub sections_offset: u64,
    /// `e_shnum`: number of section headers, as in the header; 0 also if 16 bits cannot hold it.
    pub section_count: u16,
    /// `e_shstrndx`: index of the section with the names of sections, as in the header.
    pub name_section_index: u16,
}

impl ElfHeader {
    /// Size of the ELF header of the larger class, in bytes.
    pub const MAX_SIZE: usize = 64;

    /// Returns the size of an ELF header of this class, in bytes.
    pub fn size(class: ElfClass) -> usize {
        match class {
            ElfClass::Elf32 => 52,
            ElfClass::Elf64 => 64,
        }
    }

    /// Reads the ELF header of a file.
    ///
    /// # Errors
    /// Fails if the file is not an ELF file, is truncated, or has an undefined class, byte order or
    /// entry size.
    pub fn read(source: &dyn ReadAt) -> Result<Self, ElfError> {
        let mut bytes = [0; Self::MAX_SIZE];
        let there = usize::try_from(source.size_bytes())
            .unwrap_or(usize::MAX)
            .min(bytes.len());
        source
            .read_exact_at(&mut bytes[..there], 0)
            .map_err(ElfError::from_read("the file header", 0))?;
        Self::parse(&bytes[..there])
    }

    /// Parses an ELF header from the first bytes of a file.
    ///
    /// # Errors
    /// See [`read`](Self::read).
    pub fn parse(bytes: &[u8]) -> Result<Self, ElfError> {
        if !is_elf(bytes) {
            return Err(ElfError::NotElf);
        }
        let at = |index: usize| bytes.get(index).copied().unwrap_or_default();
        let unknown =
            |field: &'static str, value: u64| Err(ElfError::InvalidHeader { field, value });
        let class = match at(4) {
            1 => ElfClass::Elf32,
            2 => ElfClass::Elf64,
            other => return unknown("class", other.into()),
        };
        let endian = match at(5) {
            1 => Endianness::Little,
            2 => Endianness::Big,
            other => return unknown("byte order", other.into()),
        };
        if bytes.len() < Self::size(class) {
            return Err(ElfError::OutOfBounds {
                what: "the file header",
                offset: 0,
                container: "the file",
            });
        }
        let format = ElfFormat {
            class,
            endianness: endian,
        };
        let word = format.word_bytes();
        // `e_entry`, `e_phoff` and `e_shoff` precede `e_flags`.
        let flags = 24 + 3 * word;
        let header = Self {
            format,
            os_abi: at(7),
            abi_version: at(8),
            kind: format.u16(bytes, 16),
            machine: format.u16(bytes, 18),
            flags: format.u32(bytes, flags),
            segments_offset: format.word(bytes, 24 + word),
            segment_count: format.u16(bytes, flags + 8),
            sections_offset: format.word(bytes, 24 + 2 * word),
            section_count: format.u16(bytes, flags + 12),
            name_section_index: format.u16(bytes, flags + 14),
        };
        let segment_bytes = format.u16(bytes, flags + 6);
        if header.segment_count > 0
            && usize::from(segment_bytes) != super::ProgramHeader::header_size(class)
        {
            return unknown("program headers of size", segment_bytes.into());
        }
        let section_bytes = format.u16(bytes, flags + 10);
        if header.section_count > 0
            && usize::from(section_bytes) != super::SectionHeader::header_size(class)
        {
            return unknown("section headers of size", section_bytes.into());
        }
        Ok(header)
    }

    /// Writes `e_phoff` and `e_phnum` into the bytes of an ELF header.
    pub(super) fn write_program_header_table(
        format: ElfFormat,
        bytes: &mut [u8],
        offset: u64,
        count: u16,
    ) {
        let word = format.word_bytes();
        format.put_word(bytes, 24 + word, offset);
        format.put_u16(bytes, 24 + 3 * word + 8, count);
    }

    /// Writes `e_shoff`, `e_shentsize`, `e_shnum` and `e_shstrndx` into the bytes of an ELF header.
    pub(super) fn write_section_header_table(
        format: ElfFormat,
        bytes: &mut [u8],
        offset: u64,
        count: u16,
        names: u16,
    ) {
        let word = format.word_bytes();
        format.put_word(bytes, 24 + 2 * word, offset);
        let size =
            u16::try_from(super::SectionHeader::header_size(format.class)).expect("it is 40 or 64");
        format.put_u16(bytes, 24 + 3 * word + 10, size);
        format.put_u16(bytes, 24 + 3 * word + 12, count);
        format.put_u16(bytes, 24 + 3 * word + 14, names);
    }
}
