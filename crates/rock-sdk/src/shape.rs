//! Detection of libraries and programs by their ELF headers.

use super::FileShape;
use rock_bytes::ReadAt;
use rock_elf::{Elf, ElfClass, ElfError, Endianness, is_elf, machine, segment_type, tag};

/// `ET_EXEC` and `ET_DYN` (gABI, chapter 4, `e_type`).
const EXECUTABLE: u16 = 2;
const SHARED: u16 = 3;

impl FileShape {
    /// Reads the shape from the head of a file. Reads only a few kB, and only four bytes of most
    /// files.
    ///
    /// # Errors
    /// When the file starts like an ELF file and is damaged.
    pub fn read(source: &dyn ReadAt) -> Result<Self, ElfError> {
        let mut magic = [0; 4];
        if source.size_bytes() < 64
            || source.read_exact_at(&mut magic, 0).is_err()
            || !is_elf(&magic)
        {
            return Ok(Self::Data);
        }
        let elf = Elf::read(source)?;
        let header = elf.header();
        let is_ours = header.format.class == ElfClass::Elf64
            && header.format.endianness == Endianness::Little
            && matches!(header.machine, machine::X86_64 | machine::AARCH64);
        if !is_ours || !matches!(header.kind, EXECUTABLE | SHARED) || elf.is_debug_only(source) {
            return Ok(Self::Data);
        }
        let strings = elf.string_table(source)?;
        let text = |tag| {
            elf.dynamic_strings(&strings, tag)
                .map(|texts| texts.into_iter().next())
        };
        // The dynamic linker ignores RPATH if there is a RUNPATH (ld.so(8)).
        let search = match text(tag::RUNPATH)? {
            Some(runpath) => Some(runpath),
            None => text(tag::RPATH)?,
        };
        let soname = text(tag::SONAME)?;
        let is_dynamic = elf.segment(segment_type::DYNAMIC).is_some();
        let is_interpreted = elf.segment(segment_type::INTERP).is_some();
        Ok(
            if elf.is_executable() || (is_interpreted && soname.is_none()) {
                // A statically linked program has no use for a search path.
                let is_linked = is_interpreted && elf.dynamic_value(tag::STRTAB).is_some();
                Self::Program {
                    machine: header.machine,
                    is_dynamic: is_linked,
                    search,
                }
            } else if is_dynamic {
                Self::Library {
                    machine: header.machine,
                    soname,
                    search,
                }
            } else {
                Self::Data
            },
        )
    }
}
