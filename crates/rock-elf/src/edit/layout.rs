//! The places of changed tables in the file and in memory.

use super::super::limits::MAX_EDIT_PADDING_BYTES;
use super::super::{DynamicEntry, Elf, ElfError, ProgramHeader, segment_flag, segment_type, tag};
use super::edit_plan::{EditPlan, is_program};
use super::{StringTableBuilder, marker, phdr_growth, pinned_tables, table_references};
use crate::{ElfClass, ElfHeader, ElfPatch, verify::max_page_size};
use rock_bytes::ReadAt;

/// Spare entries of a dynamic section that is moved. GNU ld leaves the same number (binutils,
/// `--spare-dynamic-tags`).
const SPARE_ENTRIES: usize = 5;
/// Spare entries of program headers that are moved.
const SPARE_HEADERS: usize = 4;
/// Alignment of appended tables, in bytes.
const TABLE_ALIGNMENT: u64 = 16;
/// Minimum page size in bytes on all machines that wheels exist for; the page size on x86.
const MIN_PAGE_SIZE: u64 = 4096;

/// A range of a file and the address at which it is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MappedRange {
    pub(super) offset: u64,
    pub(super) address: u64,
    pub(super) size: u64,
}

/// The places of the tables in the edited file, and the appended bytes.
#[derive(Debug, Default)]
struct EditLayout {
    strings: Option<MappedRange>,
    dynamic: Option<MappedRange>,
    headers: Option<MappedRange>,
    segments: Vec<ProgramHeader>,
    tail_offset: u64,
    tail: Vec<u8>,
}

/// Returns the patch for a plan: in place if possible, otherwise in a read-only segment at the end
/// of the file, otherwise in new segments.
pub(super) fn lay_out(
    elf: &Elf,
    source: &dyn ReadAt,
    plan: &EditPlan,
    names: &StringTableBuilder,
) -> Result<ElfPatch, ElfError> {
    let mut layout = EditLayout {
        segments: elf.segments().to_vec(),
        ..EditLayout::default()
    };
    match extensible_segment(elf).filter(|_| !plan.moves_dynamic_section) {
        _ if !names.has_grown() && !plan.moves_dynamic_section => {}
        Some(index) => layout.extend_segment(elf, names, index)?,
        None => layout.add_segments(elf, source, plan, names)?,
    }
    layout.into_patch(elf, source, plan)
}

/// Returns the index of a read-only segment that ends the file and has the highest addresses.
fn extensible_segment(elf: &Elf) -> Option<usize> {
    let top = elf.load_segments().map(ProgramHeader::memory_end).max()?;
    elf.segments().iter().position(|segment| {
        segment.is_load()
            && segment.flags == segment_flag::READ
            && segment.file_size == segment.memory_size
            && segment.file_end() == elf.size_bytes()
            && segment.memory_end() == top
            && segment.file_size > 0
    })
}

fn no_address_space() -> ElfError {
    ElfError::not_editable("its addresses leave no room")
}

/// Returns the next multiple of `align`, a power of two.
fn align_up(value: u64, align: u64) -> Result<u64, ElfError> {
    value
        .checked_next_multiple_of(align)
        .ok_or_else(no_address_space)
}

/// Rejects addresses and offsets that the class of the file cannot represent.
fn check_address_limit(elf: &Elf, end: Option<u64>) -> Result<u64, ElfError> {
    let most = if elf.header().format.class == ElfClass::Elf32 {
        u64::from(u32::MAX)
    } else {
        i64::MAX as u64
    };
    end.filter(|end| *end <= most).ok_or_else(no_address_space)
}

/// Allocates new segments above all others, at addresses that are congruent to their offsets.
struct SegmentAllocator<'a> {
    elf: &'a Elf,
    /// End of the file with the allocated segments.
    offset: u64,
    /// End of memory with the allocated segments.
    top: u64,
    align: u64,
    /// The difference between addresses and file offsets, if it must equal that of the first
    /// segment: kernels before 5.18 compute the address of the program headers (`AT_PHDR`) from
    /// `e_phoff` that way (Linux, `fs/binfmt_elf.c`).
    distance: Option<u64>,
}

impl<'a> SegmentAllocator<'a> {
    fn new(elf: &'a Elf, moves_headers: bool) -> Result<Self, ElfError> {
        let loads: Vec<&ProgramHeader> = elf.load_segments().collect();
        let Some(first) = loads.first() else {
            return Err(ElfError::not_editable("no segment of it is loaded"));
        };
        if !loads.is_sorted_by(|one, next| one.address <= next.address) {
            return Err(ElfError::not_editable(
                "its segments are not in the order of their addresses",
            ));
        }
        let mut align = loads
            .iter()
            .map(|load| load.align)
            .max()
            .unwrap_or_default()
            .max(MIN_PAGE_SIZE);
        if !align.is_power_of_two() {
            return Err(ElfError::not_editable(format!(
                "a segment is aligned to {align:#x}"
            )));
        }
        let distance = first.address.wrapping_sub(first.offset);
        let exact = moves_headers && is_program(elf);
        if exact && distance % align != 0 {
            align = first.align.max(MIN_PAGE_SIZE);
            if !align.is_power_of_two() || distance % align != 0 {
                return Err(ElfError::not_editable("its first segment is not aligned"));
            }
        }
        let top = loads
            .iter()
            .map(|load| load.memory_end())
            .max()
            .unwrap_or_default();
        Ok(Self {
            elf,
            offset: elf.size_bytes(),
            top,
            align,
            distance: exact.then_some(distance),
        })
    }

    /// Allocates a segment of `size` bytes.
    ///
    /// A segment with the program headers starts on its own page of the file: without a `PT_PHDR`,
    /// glibc uses the first segment whose pages, not bytes, cover them (`elf/dl-load.h`,
    /// `_dl_postprocess_loadcmd`), and would read the zeros of another segment.
    fn allocate(&mut self, size: u64, holds_headers: bool) -> Result<MappedRange, ElfError> {
        let start = if holds_headers {
            max_page_size(self.elf).min(self.align)
        } else {
            TABLE_ALIGNMENT
        };
        let (mut address, mut offset) = (
            align_up(self.top, self.align)?,
            align_up(self.offset, start)?,
        );
        match self.distance {
            Some(distance) => {
                let there = address.wrapping_sub(distance);
                let more = align_up(offset.saturating_sub(there), self.align)?;
                address = address.checked_add(more).ok_or_else(no_address_space)?;
                offset = there.checked_add(more).ok_or_else(no_address_space)?;
            }
            None => {
                address = address
                    .checked_add(offset % self.align)
                    .ok_or_else(no_address_space)?;
            }
        }
        self.top = check_address_limit(self.elf, address.checked_add(size))?;
        self.offset = check_address_limit(self.elf, offset.checked_add(size))?;
        Ok(MappedRange {
            offset,
            address,
            size,
        })
    }

    /// Returns the program header of an allocated segment.
    fn load_header(&self, range: MappedRange, flags: u32) -> ProgramHeader {
        ProgramHeader {
            kind: segment_type::LOAD,
            flags,
            offset: range.offset,
            address: range.address,
            physical_address: range.address,
            file_size: range.size,
            memory_size: range.size,
            align: self.align,
        }
    }
}

impl EditLayout {
    /// Extends the segment at the end of the file by the new strings.
    fn extend_segment(
        &mut self,
        elf: &Elf,
        names: &StringTableBuilder,
        index: usize,
    ) -> Result<(), ElfError> {
        let (mut segment, end) = (self.segments[index], elf.size_bytes());
        let strings = elf
            .dynamic_value(tag::STRTAB)
            .and_then(|address| Some((address, elf.file_offset(address)?)));
        let all = names.bytes().len() as u64;
        let old = all - names.added().len() as u64;
        self.tail_offset = end;
        match strings {
            // The string table already ends the file.
            Some((address, offset))
                if segment.file_offset(address).is_some()
                    && offset.checked_add(old) == Some(end) =>
            {
                self.strings = Some(MappedRange {
                    offset,
                    address,
                    size: all,
                });
                self.tail = names.added().to_vec();
            }
            _ => {
                let offset = align_up(end, TABLE_ALIGNMENT)?;
                let address = segment
                    .address
                    .checked_add(offset - segment.offset)
                    .ok_or_else(no_address_space)?;
                self.strings = Some(MappedRange {
                    offset,
                    address,
                    size: all,
                });
                self.write_tail(offset, names.bytes());
            }
        }
        segment.file_size = end + self.tail.len() as u64 - segment.offset;
        segment.memory_size = segment.file_size;
        check_address_limit(elf, Some(segment.memory_end()))?;
        check_address_limit(elf, Some(segment.file_end()))?;
        self.segments[index] = segment;
        Ok(())
    }

    /// Adds a read-only segment for strings and program headers, preceded by a writable one for the
    /// dynamic section if that moves: the dynamic linker writes into it.
    fn add_segments(
        &mut self,
        elf: &Elf,
        source: &dyn ReadAt,
        plan: &EditPlan,
        names: &StringTableBuilder,
    ) -> Result<(), ElfError> {
        let format = elf.header().format;
        let moved = usize::from(plan.moves_dynamic_section);
        let in_place =
            phdr_growth::has_capacity(elf, source, moved + usize::from(names.has_grown()))?;
        let mut allocator = SegmentAllocator::new(elf, !in_place)?;
        let mut added = Vec::new();
        if plan.moves_dynamic_section {
            let slots = (plan.entries.len() + 1 + SPARE_ENTRIES) as u64;
            let range = allocator.allocate(slots * 2 * format.word_bytes() as u64, false)?;
            self.dynamic = Some(range);
            added.push(allocator.load_header(range, segment_flag::READ | segment_flag::WRITE));
        }
        if names.has_grown() || !in_place {
            let count = elf.segments().len() + moved + 1;
            let capacity = if in_place { 0 } else { count + SPARE_HEADERS };
            let table = capacity * ProgramHeader::header_size(format.class);
            let start = (marker::MARKER_BYTES + table) as u64;
            let length = if names.has_grown() {
                names.bytes().len() as u64
            } else {
                0
            };
            let range = allocator.allocate(start + length, !in_place)?;
            let part = |from: u64, size: u64| MappedRange {
                offset: range.offset + from,
                address: range.address + from,
                size,
            };
            if !in_place {
                let size = count * ProgramHeader::header_size(format.class);
                self.headers = Some(part(marker::MARKER_BYTES as u64, size as u64));
            }
            added.push(allocator.load_header(range, segment_flag::READ));
            self.tail_offset = self.dynamic.map_or(range.offset, |dynamic| dynamic.offset);
            let padding = self
                .tail_offset
                .saturating_sub(elf.size_bytes())
                .max(range.offset - self.tail_offset);
            if padding > MAX_EDIT_PADDING_BYTES {
                return Err(ElfError::not_editable(format!(
                    "{padding} bytes of zeros would have to be added"
                )));
            }
            self.write_tail(
                range.offset,
                &marker::marker_bytes(format, u32::try_from(capacity).unwrap_or_default()),
            );
            self.write_tail(range.offset + start - 1, &[0]);
            if names.has_grown() {
                self.strings = Some(part(start, length));
                self.write_tail(range.offset + start, names.bytes());
            }
        } else if let Some(dynamic) = self.dynamic {
            self.tail_offset = dynamic.offset;
        }
        self.insert_headers(elf, &added)
    }

    /// Inserts program headers after the last `PT_LOAD`, replacing unused ones.
    fn insert_headers(&mut self, elf: &Elf, added: &[ProgramHeader]) -> Result<(), ElfError> {
        for _ in added {
            let unused = self
                .segments
                .iter()
                .position(|segment| segment.kind == segment_type::NULL);
            if let Some(unused) = unused {
                self.segments.remove(unused);
            }
        }
        let last = self
            .segments
            .iter()
            .rposition(ProgramHeader::is_load)
            .map_or(0, |last| last + 1);
        self.segments.splice(last..last, added.iter().copied());
        let size = ProgramHeader::header_size(elf.header().format.class) * self.segments.len();
        // 0xffff marks a number in another place (gABI, `PN_XNUM`).
        if self.segments.len() >= usize::from(u16::MAX) {
            return Err(ElfError::not_editable("it has too many segments"));
        }
        if let Some(headers) = &mut self.headers {
            headers.size = size as u64;
        }
        let moved = self.headers;
        for segment in &mut self.segments {
            match (segment.kind, moved, self.dynamic) {
                (segment_type::PHDR, Some(range), _) => set_range(segment, range),
                (segment_type::PHDR, None, _) => {
                    segment.file_size = segment.file_size.max(size as u64);
                    segment.memory_size = segment.memory_size.max(size as u64);
                }
                (segment_type::DYNAMIC, _, Some(range)) => set_range(segment, range),
                _ => {}
            }
        }
        Ok(())
    }

    /// Writes bytes into the appended part of the file.
    fn write_tail(&mut self, offset: u64, bytes: &[u8]) {
        let start = usize::try_from(offset - self.tail_offset).unwrap_or(usize::MAX);
        let end = start.saturating_add(bytes.len());
        self.tail.resize(self.tail.len().max(end), 0);
        self.tail[start..end].copy_from_slice(bytes);
    }

    fn into_patch(
        mut self,
        elf: &Elf,
        source: &dyn ReadAt,
        plan: &EditPlan,
    ) -> Result<ElfPatch, ElfError> {
        let mut patch = ElfPatch::unchanged(elf.size_bytes());
        self.write_dynamic(elf, source, plan, &mut patch)?;
        self.write_headers(elf, source, &mut patch)?;
        table_references::update_sections(elf, source, self.strings, self.dynamic, &mut patch)?;
        pinned_tables::check_versions(elf, source, &patch)?;
        let format = elf.header().format;
        for (offset, name) in &plan.version_need_names {
            let mut bytes = [0; 4];
            format.put_u32(&mut bytes, 0, *name);
            overwrite(source, &mut patch, *offset, &bytes)?;
        }
        pinned_tables::check(elf, source, &patch)?;
        table_references::update_symbols(elf, source, self.dynamic, &mut patch)?;
        patch.append(self.tail_offset, self.tail);
        if !patch.is_consistent() {
            return Err(ElfError::not_editable("its tables overlap"));
        }
        Ok(patch)
    }

    fn write_dynamic(
        &mut self,
        elf: &Elf,
        source: &dyn ReadAt,
        plan: &EditPlan,
        patch: &mut ElfPatch,
    ) -> Result<(), ElfError> {
        let (format, word) = (elf.header().format, elf.header().format.word_bytes());
        let Some(segment) = elf.segment(segment_type::DYNAMIC) else {
            return Err(ElfError::not_editable("it has no dynamic table"));
        };
        let size = self
            .dynamic
            .map_or(elf.dynamic_slots() * 2 * word as u64, |range| range.size);
        let mut bytes = vec![0; usize::try_from(size).unwrap_or(0)];
        for (index, entry) in plan.entries.iter().enumerate() {
            let value = self.new_value(entry);
            format.put_word(&mut bytes, index * 2 * word, entry.tag);
            format.put_word(&mut bytes, index * 2 * word + word, value);
        }
        match self.dynamic {
            Some(range) => self.write_tail(range.offset, &bytes),
            None => overwrite(source, patch, segment.offset, &bytes)?,
        }
        Ok(())
    }

    fn new_value(&self, entry: &DynamicEntry) -> u64 {
        match (entry.tag, self.strings) {
            (tag::STRTAB, Some(strings)) => strings.address,
            (tag::STRSZ, Some(strings)) => strings.size,
            _ => entry.value,
        }
    }

    /// Writes the program headers, and their place into the ELF header.
    fn write_headers(
        &mut self,
        elf: &Elf,
        source: &dyn ReadAt,
        patch: &mut ElfPatch,
    ) -> Result<(), ElfError> {
        let header = elf.header();
        let table: Vec<u8> = self
            .segments
            .iter()
            .flat_map(|segment| segment.to_bytes(header.format))
            .collect();
        match self.headers {
            Some(range) => self.write_tail(range.offset, &table),
            None => overwrite(source, patch, header.segments_offset, &table)?,
        }
        let mut bytes = vec![0; ElfHeader::size(header.format.class)];
        source
            .read_exact_at(&mut bytes, 0)
            .map_err(ElfError::from_read("the file header", 0))?;
        let old = bytes.clone();
        let count = u16::try_from(self.segments.len()).unwrap_or(u16::MAX);
        let start = self
            .headers
            .map_or(header.segments_offset, |range| range.offset);
        ElfHeader::write_program_header_table(header.format, &mut bytes, start, count);
        patch.replace(0, &old, &bytes);
        Ok(())
    }
}

fn set_range(segment: &mut ProgramHeader, range: MappedRange) {
    segment.offset = range.offset;
    (segment.address, segment.physical_address) = (range.address, range.address);
    (segment.file_size, segment.memory_size) = (range.size, range.size);
}

/// Overwrites the bytes at `offset` that differ.
pub(super) fn overwrite(
    source: &dyn ReadAt,
    patch: &mut ElfPatch,
    offset: u64,
    new: &[u8],
) -> Result<(), ElfError> {
    let mut old = vec![0; new.len()];
    source
        .read_exact_at(&mut old, offset)
        .map_err(ElfError::from_read("a table that has to be edited", offset))?;
    patch.replace(offset, &old, new);
    Ok(())
}
