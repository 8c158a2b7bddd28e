//! References to the string table and the dynamic section: section headers and the symbol
//! `_DYNAMIC`.

use super::super::{Elf, ElfError, ElfSymbol, SectionHeader, section_type, tag};
use super::layout::{MappedRange, overwrite};
use crate::{ElfPatch, segment_type};
use rock_bytes::ReadAt;

/// The symbol of the dynamic section (gABI, chapter 5, "Dynamic Section").
const DYNAMIC_SYMBOL: &[u8] = b"_DYNAMIC\0";
/// Size in bytes of the chunks in which symbols are read.
const CHUNK_BYTES: u64 = 1 << 16;

/// Updates the section headers of moved tables.
pub(super) fn update_sections(
    elf: &Elf,
    source: &dyn ReadAt,
    strings: Option<MappedRange>,
    dynamic: Option<MappedRange>,
    patch: &mut ElfPatch,
) -> Result<(), ElfError> {
    if strings.is_none() && dynamic.is_none() {
        return Ok(());
    }
    let sections = elf.sections(source)?;
    let old_strings = elf.dynamic_value(tag::STRTAB);
    let old_dynamic = elf
        .segment(segment_type::DYNAMIC)
        .map(|segment| segment.address);
    for (index, section) in sections
        .iter()
        .enumerate()
        .filter(|(_, section)| section.is_alloc())
    {
        let range = match section.kind {
            section_type::STRTAB if Some(section.address) == old_strings => strings,
            section_type::DYNAMIC if Some(section.address) == old_dynamic => dynamic,
            _ => None,
        };
        let Some(range) = range else { continue };
        let to = SectionHeader {
            address: range.address,
            offset: range.offset,
            size: range.size,
            ..section.clone()
        };
        let format = elf.header().format;
        let at = elf.header().sections_offset
            + (index * SectionHeader::header_size(format.class)) as u64;
        overwrite(source, patch, at, &to.to_bytes(format))?;
    }
    Ok(())
}

/// Updates the symbol `_DYNAMIC` in all symbol tables if the dynamic section moved.
pub(super) fn update_symbols(
    elf: &Elf,
    source: &dyn ReadAt,
    dynamic: Option<MappedRange>,
    patch: &mut ElfPatch,
) -> Result<(), ElfError> {
    let old = elf
        .segment(segment_type::DYNAMIC)
        .map(|segment| segment.address);
    if let (Some(range), Some(old)) = (dynamic, old) {
        let sections = elf.sections(source)?;
        let tables = sections
            .iter()
            .filter(|one| matches!(one.kind, section_type::SYMTAB | section_type::DYNSYM));
        for table in tables {
            move_symbol(
                elf,
                source,
                table,
                sections.get(table.link as usize),
                (old, range.address),
                patch,
            )?;
        }
    }
    Ok(())
}

/// Updates `_DYNAMIC` in one symbol table, which may be large.
fn move_symbol(
    elf: &Elf,
    source: &dyn ReadAt,
    table: &SectionHeader,
    names: Option<&SectionHeader>,
    (old, new): (u64, u64),
    patch: &mut ElfPatch,
) -> Result<(), ElfError> {
    let format = elf.header().format;
    let size = ElfSymbol::entry_size(format.class);
    let end = table
        .offset
        .saturating_add(table.size)
        .min(elf.size_bytes());
    let (mut at, mut piece) = (table.offset, Vec::new());
    while at < end {
        let count = (end - at).min(CHUNK_BYTES) / size as u64;
        if count == 0 {
            break;
        }
        piece.resize(usize::try_from(count).unwrap_or(0) * size, 0);
        source
            .read_exact_at(&mut piece, at)
            .map_err(ElfError::from_read("the symbols", at))?;
        for (index, bytes) in piece.chunks_exact(size).enumerate() {
            let symbol = ElfSymbol::parse(format, bytes);
            if symbol.value != old || symbol.is_undefined() {
                continue;
            }
            let mut name = [0; DYNAMIC_SYMBOL.len()];
            let name_at = names
                .map_or(0, |names| names.offset)
                .saturating_add(symbol.name.into());
            if source.read_exact_at(&mut name, name_at).is_ok() && name == DYNAMIC_SYMBOL {
                let mut to = bytes.to_vec();
                ElfSymbol::write_value(format, &mut to, new);
                patch.replace(at + (index * size) as u64, bytes, &to);
            }
        }
        at += piece.len() as u64;
    }
    Ok(())
}
