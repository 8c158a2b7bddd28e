//! Pinned tables: tables that the dynamic linker reads and edits must not overwrite.

use std::ops::Range;

use super::super::limits::MAX_GUARDED_VERSIONS;
use super::super::{Elf, ElfError, ElfSymbol, tag};
use crate::ElfPatch;
use crate::version::ENTRY_BYTES;
use rock_bytes::ReadAt;

/// Minimum sizes of these tables in bytes: the counts of a hash table, the head of a version
/// definition (gABI, "Hash Table"; LSB Core 10.7, `Elf64_Verdef`).
const HASH_BYTES: u64 = 8;
const GNU_HASH_BYTES: u64 = 16;
const VERSION_BYTES: u64 = 20;

/// Rejects a patch that overwrites a part of such a table. They are disjoint from the edited
/// tables, except in malformed or hostile files.
///
/// # Errors
/// Fails if a table overlaps an overwrite.
pub(super) fn check(elf: &Elf, source: &dyn ReadAt, patch: &ElfPatch) -> Result<(), ElfError> {
    let value = |tag: u64| elf.dynamic_value(tag).unwrap_or_default();
    let symbols = elf.symbol_count(source).unwrap_or(1);
    let symbol_bytes = ElfSymbol::entry_size(elf.header().format.class) as u64;
    let tables = [
        (tag::STRTAB, value(tag::STRSZ)),
        (tag::SYMTAB, symbols.saturating_mul(symbol_bytes)),
        (tag::VERSYM, symbols.saturating_mul(2)),
        (tag::HASH, HASH_BYTES),
        (tag::GNU_HASH, GNU_HASH_BYTES),
        (tag::VERDEF, VERSION_BYTES),
        (tag::RELA, value(tag::RELASZ)),
        (tag::REL, value(tag::RELSZ)),
        (tag::RELR, value(tag::RELRSZ)),
        (tag::JMPREL, value(tag::PLTRELSZ)),
    ];
    let ranges = tables.into_iter().filter_map(|(tag, size)| {
        let start = elf.file_offset(elf.dynamic_value(tag)?)?;
        (size > 0).then(|| start..start.saturating_add(size))
    });
    check_overlap(patch, ranges)
}

/// Rejects a patch that overwrites the version needs. Call it before the names of libraries in them
/// are changed.
///
/// # Errors
/// Fails if the table overlaps an overwrite.
pub(super) fn check_versions(
    elf: &Elf,
    source: &dyn ReadAt,
    patch: &ElfPatch,
) -> Result<(), ElfError> {
    let (Some(mut at), count) = (
        elf.dynamic_value(tag::VERNEED),
        elf.dynamic_value(tag::VERNEEDNUM),
    ) else {
        return Ok(());
    };
    let format = elf.header().format;
    let (mut found, mut left) = (Vec::new(), MAX_GUARDED_VERSIONS);
    for _ in 0..count.unwrap_or(u64::MAX).min(MAX_GUARDED_VERSIONS) {
        let Ok(entry) = elf.version_entry(source, at) else {
            break;
        };
        found.push(at);
        let mut inner = at.wrapping_add(format.u32(&entry, 8).into());
        for _ in 0..u64::from(format.u16(&entry, 2)).min(left) {
            left -= 1;
            let Ok(one) = elf.version_entry(source, inner) else {
                break;
            };
            found.push(inner);
            inner = inner.wrapping_add(format.u32(&one, 12).into());
        }
        match format.u32(&entry, 12) {
            0 => break,
            next => at = at.wrapping_add(next.into()),
        }
    }
    found.sort_unstable();
    found.dedup();
    let starts = found.into_iter().filter_map(|at| elf.file_offset(at));
    check_overlap(
        patch,
        starts.map(|start| start..start.saturating_add(ENTRY_BYTES as u64)),
    )
}

fn check_overlap(
    patch: &ElfPatch,
    mut tables: impl Iterator<Item = Range<u64>>,
) -> Result<(), ElfError> {
    let is_over = |table: &Range<u64>| {
        let mut overwrites = patch.overwrites().iter();
        overwrites.any(|(at, bytes)| {
            *at < table.end && table.start < at.saturating_add(bytes.len() as u64)
        })
    };
    match tables.find(is_over) {
        Some(_) => Err(ElfError::not_editable("its tables overlap")),
        None => Ok(()),
    }
}
