//! Room for more program headers.

use std::ops::Range;

use super::super::{Elf, ElfError, Segment, segment_type};
use super::marker;
use rock_bytes::ReadAt;

/// Whether the table of program headers can hold so many more where it is: by giving up unused
/// entries, then by zeros behind it that nothing else uses.
pub(super) fn holds(elf: &Elf, source: &dyn ReadAt, more: usize) -> Result<bool, ElfError> {
    let unused = elf
        .segments()
        .iter()
        .filter(|segment| segment.kind == segment_type::NULL)
        .count();
    let size = Segment::bytes(elf.header().format.class) as u64;
    let start = elf.header().segments_offset;
    let end = start.saturating_add(elf.segments().len() as u64 * size);
    let behind = end..end.saturating_add(more.saturating_sub(unused) as u64 * size);
    if behind.is_empty() {
        return Ok(true);
    }
    let covers = |load: &&Segment| load.offset <= start && behind.end <= load.file_end();
    let Some(cover) = elf.loads().find(covers) else {
        return Ok(false);
    };
    let mut bytes = vec![0; usize::try_from(behind.end - behind.start).unwrap_or(0)];
    let reading = ElfError::reading("the room behind the program headers", behind.start);
    source
        .read_exact_at(&mut bytes, behind.start)
        .map_err(reading)?;
    if bytes.iter().any(|byte| *byte != 0) {
        return Ok(false);
    }
    let known = is_reserved(elf, source, &behind)? || elf.header().sections_offset != 0;
    Ok(known && !is_used(elf, source, &behind, cover)?)
}

fn overlap(one: &Range<u64>, start: u64, length: u64) -> bool {
    length > 0 && start < one.end && one.start < start.saturating_add(length)
}

/// Whether the file itself says that the room is for program headers: by a `PT_PHDR` that is larger
/// than the table, or by our own mark before it.
fn is_reserved(elf: &Elf, source: &dyn ReadAt, room: &Range<u64>) -> Result<bool, ElfError> {
    let start = elf.header().segments_offset;
    let covered = elf
        .segment(segment_type::PHDR)
        .filter(|segment| segment.offset == start);
    if covered.is_some_and(|segment| room.end <= segment.file_end()) {
        return Ok(true);
    }
    let Some(capacity) = marker::read_before(elf.header().format, source, start)? else {
        return Ok(false);
    };
    let size = Segment::bytes(elf.header().format.class) as u64;
    Ok(room.end <= start.saturating_add(u64::from(capacity) * size))
}

/// Whether a section, a segment other than the one that covers all, a dynamic entry, or the table
/// of section headers lies in the room.
fn is_used(
    elf: &Elf,
    source: &dyn ReadAt,
    room: &Range<u64>,
    cover: &Segment,
) -> Result<bool, ElfError> {
    let sections = elf.sections(source)?;
    let by_section = sections
        .iter()
        .any(|one| !one.is_nobits() && overlap(room, one.offset, one.size));
    let by_segment = elf.segments().iter().any(|segment| {
        segment != cover
            && segment.kind != segment_type::PHDR
            && overlap(room, segment.offset, segment.file_size)
    });
    // Numbers among the values are taken for addresses, too: that costs room, never safety.
    let by_entry = elf
        .dynamic()
        .iter()
        .filter_map(|entry| elf.file_offset(entry.value));
    let size = super::super::Section::bytes(elf.header().format.class) * sections.len();
    let by_headers = overlap(room, elf.header().sections_offset, size as u64);
    Ok(by_section
        || by_segment
        || by_headers
        || by_entry.into_iter().any(|offset| room.contains(&offset)))
}
