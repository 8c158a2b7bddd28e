//! What else says where the strings and the dynamic entries are: section headers and the symbol
//! `_DYNAMIC`.

use super::super::{Elf, ElfError, Section, Symbol, section_type, tag};
use super::layout::{Place, overwrite};
use crate::{Patch, segment_type};
use rock_bytes::ReadAt;

/// The symbol that stands for the dynamic table (gABI, chapter 5, "Dynamic Section").
const DYNAMIC_SYMBOL: &[u8] = b"_DYNAMIC\0";
/// Symbols are read in pieces of about so many bytes.
const PIECE_BYTES: u64 = 1 << 16;

/// Points section headers to where the tables are.
pub(super) fn update_sections(
    elf: &Elf,
    source: &dyn ReadAt,
    strings: Option<Place>,
    dynamic: Option<Place>,
    patch: &mut Patch,
) -> Result<(), ElfError> {
    if strings.is_none() && dynamic.is_none() {
        return Ok(());
    }
    let sections = elf.sections(source)?;
    let old_strings = elf.value(tag::STRTAB);
    let old_dynamic = elf
        .segment(segment_type::DYNAMIC)
        .map(|segment| segment.address);
    for (index, section) in sections
        .iter()
        .enumerate()
        .filter(|(_, section)| section.is_alloc())
    {
        let place = match section.kind {
            section_type::STRTAB if Some(section.address) == old_strings => strings,
            section_type::DYNAMIC if Some(section.address) == old_dynamic => dynamic,
            _ => None,
        };
        let Some(place) = place else { continue };
        let to = Section {
            address: place.address,
            offset: place.offset,
            size: place.size,
            ..section.clone()
        };
        let format = elf.header().format;
        let at = elf.header().sections_offset + (index * Section::bytes(format.class)) as u64;
        overwrite(source, patch, at, &to.to_bytes(format))?;
    }
    Ok(())
}

/// Points symbols to where the dynamic table is.
pub(super) fn update_symbols(
    elf: &Elf,
    source: &dyn ReadAt,
    dynamic: Option<Place>,
    patch: &mut Patch,
) -> Result<(), ElfError> {
    let old = elf
        .segment(segment_type::DYNAMIC)
        .map(|segment| segment.address);
    if let (Some(place), Some(old)) = (dynamic, old) {
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
                (old, place.address),
                patch,
            )?;
        }
    }
    Ok(())
}

/// Gives `_DYNAMIC` its value in one table of symbols, which may be large.
fn move_symbol(
    elf: &Elf,
    source: &dyn ReadAt,
    table: &Section,
    names: Option<&Section>,
    (old, new): (u64, u64),
    patch: &mut Patch,
) -> Result<(), ElfError> {
    let format = elf.header().format;
    let size = Symbol::bytes(format.class);
    let end = table
        .offset
        .saturating_add(table.size)
        .min(elf.size_bytes());
    let (mut at, mut piece) = (table.offset, Vec::new());
    while at < end {
        let count = (end - at).min(PIECE_BYTES) / size as u64;
        if count == 0 {
            break;
        }
        piece.resize(usize::try_from(count).unwrap_or(0) * size, 0);
        source
            .read_exact_at(&mut piece, at)
            .map_err(ElfError::reading("the symbols", at))?;
        for (index, bytes) in piece.chunks_exact(size).enumerate() {
            let symbol = Symbol::parse(format, bytes);
            if symbol.value != old || symbol.is_undefined() {
                continue;
            }
            let mut name = [0; DYNAMIC_SYMBOL.len()];
            let name_at = names
                .map_or(0, |names| names.offset)
                .saturating_add(symbol.name.into());
            if source.read_exact_at(&mut name, name_at).is_ok() && name == DYNAMIC_SYMBOL {
                let mut to = bytes.to_vec();
                Symbol::put_value(format, &mut to, new);
                patch.replace(at + (index * size) as u64, bytes, &to);
            }
        }
        at += piece.len() as u64;
    }
    Ok(())
}
