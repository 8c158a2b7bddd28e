//! The file header.

use super::{Class, ElfError, Endian, Format};
use rock_bytes::ReadAt;

/// The first bytes of every ELF file (gABI, `EI_MAG0` to `EI_MAG3`).
pub const MAGIC: [u8; 4] = *b"\x7fELF";

/// Machines by their number in `e_machine` (gABI and the registry of machine numbers).
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

/// Whether these first bytes of a file are those of ELF.
pub fn is_elf(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

/// The file header (gABI, chapter 4, "ELF Header").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Class and byte order.
    pub format: Format,
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
    /// `e_phoff`: where the program headers begin.
    pub segments_offset: u64,
    /// `e_phnum`: how many there are.
    pub segment_count: u16,
    /// `e_shoff`: where the section headers begin; 0 without any.
    pub sections_offset: u64,
    /// `e_shnum`.
    pub section_count: u16,
    /// `e_shstrndx`: which section holds the names of sections.
    pub names_section: u16,
}

impl Header {
    /// Bytes of the larger of both forms.
    pub const MAX_BYTES: usize = 64;

    /// Bytes of a file header of this class.
    pub fn bytes(class: Class) -> usize {
        match class {
            Class::Elf32 => 52,
            Class::Elf64 => 64,
        }
    }

    /// Reads the header of a file.
    ///
    /// # Errors
    /// When it is no ELF file, is cut off, or is of a class, byte order or entry size that does not
    /// exist.
    pub fn read(source: &dyn ReadAt) -> Result<Self, ElfError> {
        let mut bytes = [0; Self::MAX_BYTES];
        let there = usize::try_from(source.size_bytes())
            .unwrap_or(usize::MAX)
            .min(bytes.len());
        source
            .read_exact_at(&mut bytes[..there], 0)
            .map_err(ElfError::reading("the file header", 0))?;
        Self::parse(&bytes[..there])
    }

    /// Reads a header out of the first bytes of a file.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn parse(bytes: &[u8]) -> Result<Self, ElfError> {
        if !is_elf(bytes) {
            return Err(ElfError::NotElf);
        }
        let at = |index: usize| bytes.get(index).copied().unwrap_or_default();
        let unknown = |field: &'static str, value: u64| Err(ElfError::Header { field, value });
        let class = match at(4) {
            1 => Class::Elf32,
            2 => Class::Elf64,
            other => return unknown("class", other.into()),
        };
        let endian = match at(5) {
            1 => Endian::Little,
            2 => Endian::Big,
            other => return unknown("byte order", other.into()),
        };
        if bytes.len() < Self::bytes(class) {
            return Err(ElfError::Outside {
                what: "the file header",
                offset: 0,
                of: "the file",
            });
        }
        let format = Format { class, endian };
        let word = format.word_bytes();
        // `e_flags` follows three words after `e_entry` at 24.
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
            names_section: format.u16(bytes, flags + 14),
        };
        let segment_bytes = format.u16(bytes, flags + 6);
        if header.segment_count > 0 && usize::from(segment_bytes) != super::Segment::bytes(class) {
            return unknown("program headers of size", segment_bytes.into());
        }
        let section_bytes = format.u16(bytes, flags + 10);
        if header.section_count > 0 && usize::from(section_bytes) != super::Section::bytes(class) {
            return unknown("section headers of size", section_bytes.into());
        }
        Ok(header)
    }

    /// Writes where the program headers are into the bytes of a file header.
    pub(super) fn put_segments(format: Format, bytes: &mut [u8], offset: u64, count: u16) {
        let word = format.word_bytes();
        format.put_word(bytes, 24 + word, offset);
        format.put_u16(bytes, 24 + 3 * word + 8, count);
    }

    /// Writes where the section headers are into the bytes of a file header.
    pub(super) fn put_sections(
        format: Format,
        bytes: &mut [u8],
        offset: u64,
        count: u16,
        names: u16,
    ) {
        let word = format.word_bytes();
        format.put_word(bytes, 24 + 2 * word, offset);
        let size = u16::try_from(super::Section::bytes(format.class)).expect("it is 40 or 64");
        format.put_u16(bytes, 24 + 3 * word + 10, size);
        format.put_u16(bytes, 24 + 3 * word + 12, count);
        format.put_u16(bytes, 24 + 3 * word + 14, names);
    }
}
