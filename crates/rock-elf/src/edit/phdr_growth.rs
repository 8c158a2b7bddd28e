//! Growth of the program headers in place.

use std::ops::Range;

use super::super::{Elf, ElfError, ProgramHeader, segment_type};
use super::marker;
use rock_bytes::ReadAt;

/// Returns `true` if `more` program headers fit in place: over unused entries, then over zeros
/// after the table that nothing else uses.
pub(super) fn has_capacity(elf: &Elf, source: &dyn ReadAt, more: usize) -> Result<bool, ElfError> {
    let unused = elf
        .segments()
        .iter()
        .filter(|segment| segment.kind == segment_type::NULL)
        .count();
    let size = ProgramHeader::header_size(elf.header().format.class) as u64;
    let start = elf.header().segments_offset;
    let end = start.saturating_add(elf.segments().len() as u64 * size);
    let behind = end..end.saturating_add(more.saturating_sub(unused) as u64 * size);
    if behind.is_empty() {
        return Ok(true);
    }
    let covers = |load: &&ProgramHeader| load.offset <= start && behind.end <= load.file_end();
    let Some(cover) = elf.load_segments().find(covers) else {
        return Ok(false);
    };
    let mut bytes = vec![0; usize::try_from(behind.end - behind.start).unwrap_or(0)];
    let reading = ElfError::from_read("the range after the program headers", behind.start);
    source
        .read_exact_at(&mut bytes, behind.start)
        .map_err(reading)?;
    if bytes.iter().any(|byte| *byte != 0) {
        return Ok(false);
    }
    let known = is_reserved(elf, source, &behind)? || elf.header().sections_offset != 0;
    Ok(known && !is_used(elf, source, &behind, cover)?)
}

fn overlaps(one: &Range<u64>, start: u64, length: u64) -> bool {
    length > 0 && start < one.end && one.start < start.saturating_add(length)
}

/// Returns `true` if the range is reserved for program headers: by a `PT_PHDR` that is larger than
/// the table, or by our marker before it.
fn is_reserved(elf: &Elf, source: &dyn ReadAt, range: &Range<u64>) -> Result<bool, ElfError> {
    let start = elf.header().segments_offset;
    let covered = elf
        .segment(segment_type::PHDR)
        .filter(|segment| segment.offset == start);
    if covered.is_some_and(|segment| range.end <= segment.file_end()) {
        return Ok(true);
    }
    let Some(capacity) = marker::read_capacity(elf.header().format, source, start)? else {
        return Ok(false);
    };
    let size = ProgramHeader::header_size(elf.header().format.class) as u64;
    Ok(range.end <= start.saturating_add(u64::from(capacity) * size))
}

/// Returns `true` if a section, a segment other than `cover`, a dynamic entry or the section
/// headers use the range.
fn is_used(
    elf: &Elf,
    source: &dyn ReadAt,
    range: &Range<u64>,
    cover: &ProgramHeader,
) -> Result<bool, ElfError> {
    let sections = elf.sections(source)?;
    let by_section = sections
        .iter()
        .any(|one| !one.is_nobits() && overlaps(range, one.offset, one.size));
    let by_segment = elf.segments().iter().any(|segment| {
        segment != cover
            && segment.kind != segment_type::PHDR
            && overlaps(range, segment.offset, segment.file_size)
    });
    // Treats values that are plain numbers as addresses, too: that can only make the answer
    // stricter.
    let by_entry = elf
        .dynamic_entries()
        .iter()
        .filter_map(|entry| elf.file_offset(entry.value));
    let size = super::super::SectionHeader::header_size(elf.header().format.class) * sections.len();
    let by_headers = overlaps(range, elf.header().sections_offset, size as u64);
    Ok(by_section
        || by_segment
        || by_headers
        || by_entry.into_iter().any(|offset| range.contains(&offset)))
}
