//! Where changed tables find room.

use super::super::limits::MAX_EDIT_PADDING_BYTES;
use super::super::{DynamicEntry, Elf, ElfError, Segment, segment_flag, segment_type, tag};
use super::change::{Change, is_program};
use super::{Names, apart, marker, pointers, room};
use crate::{Class, Header, Patch, verify::largest_page};
use rock_bytes::ReadAt;

/// Entries that a dynamic table has left when it is moved. GNU ld leaves as many (binutils,
/// `--spare-dynamic-tags`).
const SPARE_ENTRIES: usize = 5;
/// Program headers that a table has left when it is moved.
const SPARE_HEADERS: usize = 4;
/// What is appended begins at offsets and addresses that are multiples of it.
const ALIGN: u64 = 16;
/// Pages are at least as large on all machines that wheels are made for, and exactly as large on
/// x86.
const LEAST_PAGE: u64 = 4096;

/// A stretch of a file and of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) offset: u64,
    pub(super) address: u64,
    pub(super) size: u64,
}

/// Where the tables of the edited file lie.
#[derive(Debug, Default)]
struct Layout {
    strings: Option<Place>,
    dynamic: Option<Place>,
    headers: Option<Place>,
    segments: Vec<Segment>,
    tail_offset: u64,
    tail: Vec<u8>,
}

/// The patch that makes a change: in place where there is room, otherwise in a read-only segment
/// that ends the file, otherwise in segments that are added.
pub(super) fn lay_out(
    elf: &Elf,
    source: &dyn ReadAt,
    change: &Change,
    names: &Names,
) -> Result<Patch, ElfError> {
    let mut layout = Layout {
        segments: elf.segments().to_vec(),
        ..Layout::default()
    };
    match trailing(elf).filter(|_| !change.moves) {
        _ if !names.has_grown() && !change.moves => {}
        Some(index) => layout.extend(elf, names, index)?,
        None => layout.add(elf, source, change, names)?,
    }
    layout.write(elf, source, change)
}

/// The read-only segment that ends the file and has the highest addresses.
fn trailing(elf: &Elf) -> Option<usize> {
    let top = elf.loads().map(Segment::memory_end).max()?;
    elf.segments().iter().position(|segment| {
        segment.is_load()
            && segment.flags == segment_flag::READ
            && segment.file_size == segment.memory_size
            && segment.file_end() == elf.size_bytes()
            && segment.memory_end() == top
            && segment.file_size > 0
    })
}

fn refused_room() -> ElfError {
    ElfError::refused("its addresses leave no room")
}

/// The next multiple of a power of two.
fn align_up(value: u64, align: u64) -> Result<u64, ElfError> {
    value
        .checked_next_multiple_of(align)
        .ok_or_else(refused_room)
}

/// Addresses and offsets of 32-bit files end at 4 GiB.
fn check_end(elf: &Elf, end: Option<u64>) -> Result<u64, ElfError> {
    let most = if elf.header().format.class == Class::Elf32 {
        u64::from(u32::MAX)
    } else {
        i64::MAX as u64
    };
    end.filter(|end| *end <= most).ok_or_else(refused_room)
}

/// Where segments go that are added: above all others, congruent to their offset.
struct Cursor<'a> {
    elf: &'a Elf,
    /// The end of the file so far.
    offset: u64,
    /// The end of memory so far.
    top: u64,
    align: u64,
    /// The distance from offsets to addresses, where it must be that of the first segment: kernels
    /// before 5.18 take `e_phoff` for the address of the program headers relative to it (Linux,
    /// `fs/binfmt_elf.c`, `AT_PHDR`).
    distance: Option<u64>,
}

impl<'a> Cursor<'a> {
    fn new(elf: &'a Elf, moves_headers: bool) -> Result<Self, ElfError> {
        let loads: Vec<&Segment> = elf.loads().collect();
        let Some(first) = loads.first() else {
            return Err(ElfError::refused("no segment of it is loaded"));
        };
        if !loads.is_sorted_by(|one, next| one.address <= next.address) {
            return Err(ElfError::refused(
                "its segments are not in the order of their addresses",
            ));
        }
        let mut align = loads
            .iter()
            .map(|load| load.align)
            .max()
            .unwrap_or_default()
            .max(LEAST_PAGE);
        if !align.is_power_of_two() {
            return Err(ElfError::refused(format!(
                "a segment is aligned to {align:#x}"
            )));
        }
        let distance = first.address.wrapping_sub(first.offset);
        let exact = moves_headers && is_program(elf);
        if exact && distance % align != 0 {
            align = first.align.max(LEAST_PAGE);
            if !align.is_power_of_two() || distance % align != 0 {
                return Err(ElfError::refused("its first segment is not aligned"));
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

    /// The next segment. Where it holds the program headers, it begins on a page of the file of its
    /// own: without a `PT_PHDR`, glibc takes the first segment for theirs whose pages, not bytes,
    /// reach so far (`elf/dl-load.h`, `_dl_postprocess_loadcmd`), and finds the zeros of that
    /// segment.
    fn next(&mut self, size: u64, holds_headers: bool) -> Result<Place, ElfError> {
        let start = if holds_headers {
            largest_page(self.elf).min(self.align)
        } else {
            ALIGN
        };
        let (mut address, mut offset) = (
            align_up(self.top, self.align)?,
            align_up(self.offset, start)?,
        );
        match self.distance {
            Some(distance) => {
                let there = address.wrapping_sub(distance);
                let more = align_up(offset.saturating_sub(there), self.align)?;
                address = address.checked_add(more).ok_or_else(refused_room)?;
                offset = there.checked_add(more).ok_or_else(refused_room)?;
            }
            None => {
                address = address
                    .checked_add(offset % self.align)
                    .ok_or_else(refused_room)?;
            }
        }
        self.top = check_end(self.elf, address.checked_add(size))?;
        self.offset = check_end(self.elf, offset.checked_add(size))?;
        Ok(Place {
            offset,
            address,
            size,
        })
    }

    /// The program header of a segment.
    fn segment(&self, place: Place, flags: u32) -> Segment {
        Segment {
            kind: segment_type::LOAD,
            flags,
            offset: place.offset,
            address: place.address,
            physical: place.address,
            file_size: place.size,
            memory_size: place.size,
            align: self.align,
        }
    }
}

impl Layout {
    /// Grows the segment that ends the file by the names.
    fn extend(&mut self, elf: &Elf, names: &Names, index: usize) -> Result<(), ElfError> {
        let (mut segment, end) = (self.segments[index], elf.size_bytes());
        let strings = elf
            .value(tag::STRTAB)
            .and_then(|address| Some((address, elf.file_offset(address)?)));
        let all = names.bytes().len() as u64;
        let old = all - names.added().len() as u64;
        self.tail_offset = end;
        match strings {
            // They end the file already.
            Some((address, offset))
                if segment.file_offset(address).is_some()
                    && offset.checked_add(old) == Some(end) =>
            {
                self.strings = Some(Place {
                    offset,
                    address,
                    size: all,
                });
                self.tail = names.added().to_vec();
            }
            _ => {
                let offset = align_up(end, ALIGN)?;
                let address = segment
                    .address
                    .checked_add(offset - segment.offset)
                    .ok_or_else(refused_room)?;
                self.strings = Some(Place {
                    offset,
                    address,
                    size: all,
                });
                self.fill(offset, names.bytes());
            }
        }
        segment.file_size = end + self.tail.len() as u64 - segment.offset;
        segment.memory_size = segment.file_size;
        check_end(elf, Some(segment.memory_end()))?;
        check_end(elf, Some(segment.file_end()))?;
        self.segments[index] = segment;
        Ok(())
    }

    /// Adds a read-only segment for names and program headers, and before it a writable one for
    /// dynamic entries if they must move: the loader writes into them.
    fn add(
        &mut self,
        elf: &Elf,
        source: &dyn ReadAt,
        change: &Change,
        names: &Names,
    ) -> Result<(), ElfError> {
        let format = elf.header().format;
        let moved = usize::from(change.moves);
        let in_place = room::holds(elf, source, moved + usize::from(names.has_grown()))?;
        let mut cursor = Cursor::new(elf, !in_place)?;
        let mut added = Vec::new();
        if change.moves {
            let slots = (change.entries.len() + 1 + SPARE_ENTRIES) as u64;
            let place = cursor.next(slots * 2 * format.word_bytes() as u64, false)?;
            self.dynamic = Some(place);
            added.push(cursor.segment(place, segment_flag::READ | segment_flag::WRITE));
        }
        if names.has_grown() || !in_place {
            let count = elf.segments().len() + moved + 1;
            let capacity = if in_place { 0 } else { count + SPARE_HEADERS };
            let table = capacity * Segment::bytes(format.class);
            let start = (marker::BYTES + table) as u64;
            let length = if names.has_grown() {
                names.bytes().len() as u64
            } else {
                0
            };
            let place = cursor.next(start + length, !in_place)?;
            let part = |from: u64, size: u64| Place {
                offset: place.offset + from,
                address: place.address + from,
                size,
            };
            if !in_place {
                let size = count * Segment::bytes(format.class);
                self.headers = Some(part(marker::BYTES as u64, size as u64));
            }
            added.push(cursor.segment(place, segment_flag::READ));
            self.tail_offset = self.dynamic.map_or(place.offset, |dynamic| dynamic.offset);
            let padding = self
                .tail_offset
                .saturating_sub(elf.size_bytes())
                .max(place.offset - self.tail_offset);
            if padding > MAX_EDIT_PADDING_BYTES {
                return Err(ElfError::refused(format!(
                    "{padding} bytes of zeros would have to be added"
                )));
            }
            self.fill(
                place.offset,
                &marker::bytes(format, u32::try_from(capacity).unwrap_or_default()),
            );
            self.fill(place.offset + start - 1, &[0]);
            if names.has_grown() {
                self.strings = Some(part(start, length));
                self.fill(place.offset + start, names.bytes());
            }
        } else if let Some(dynamic) = self.dynamic {
            self.tail_offset = dynamic.offset;
        }
        self.insert(elf, &added)
    }

    /// Puts segments behind the last one that is loaded, over as many unused entries as there are.
    fn insert(&mut self, elf: &Elf, added: &[Segment]) -> Result<(), ElfError> {
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
            .rposition(Segment::is_load)
            .map_or(0, |last| last + 1);
        self.segments.splice(last..last, added.iter().copied());
        let size = Segment::bytes(elf.header().format.class) * self.segments.len();
        // Numbers from 0xffff on have another form (gABI, `PN_XNUM`).
        if self.segments.len() >= usize::from(u16::MAX) {
            return Err(ElfError::refused("it has too many segments"));
        }
        if let Some(headers) = &mut self.headers {
            headers.size = size as u64;
        }
        let moved = self.headers;
        for segment in &mut self.segments {
            match (segment.kind, moved, self.dynamic) {
                (segment_type::PHDR, Some(place), _) => put(segment, place),
                (segment_type::PHDR, None, _) => {
                    segment.file_size = segment.file_size.max(size as u64);
                    segment.memory_size = segment.memory_size.max(size as u64);
                }
                (segment_type::DYNAMIC, _, Some(place)) => put(segment, place),
                _ => {}
            }
        }
        Ok(())
    }

    /// Writes into the tail.
    fn fill(&mut self, offset: u64, bytes: &[u8]) {
        let start = usize::try_from(offset - self.tail_offset).unwrap_or(usize::MAX);
        let end = start.saturating_add(bytes.len());
        self.tail.resize(self.tail.len().max(end), 0);
        self.tail[start..end].copy_from_slice(bytes);
    }

    fn write(mut self, elf: &Elf, source: &dyn ReadAt, change: &Change) -> Result<Patch, ElfError> {
        let mut patch = Patch::unchanged(elf.size_bytes());
        self.write_dynamic(elf, source, change, &mut patch)?;
        self.write_headers(elf, source, &mut patch)?;
        pointers::update_sections(elf, source, self.strings, self.dynamic, &mut patch)?;
        apart::check_versions(elf, source, &patch)?;
        let format = elf.header().format;
        for (offset, name) in &change.version_files {
            let mut bytes = [0; 4];
            format.put_u32(&mut bytes, 0, *name);
            overwrite(source, &mut patch, *offset, &bytes)?;
        }
        apart::check(elf, source, &patch)?;
        pointers::update_symbols(elf, source, self.dynamic, &mut patch)?;
        patch.append(self.tail_offset, self.tail);
        if !patch.is_sound() {
            return Err(ElfError::refused("its tables overlap"));
        }
        Ok(patch)
    }

    fn write_dynamic(
        &mut self,
        elf: &Elf,
        source: &dyn ReadAt,
        change: &Change,
        patch: &mut Patch,
    ) -> Result<(), ElfError> {
        let (format, word) = (elf.header().format, elf.header().format.word_bytes());
        let Some(segment) = elf.segment(segment_type::DYNAMIC) else {
            return Err(ElfError::refused("it has no dynamic table"));
        };
        let size = self
            .dynamic
            .map_or(elf.dynamic_slots() * 2 * word as u64, |place| place.size);
        let mut bytes = vec![0; usize::try_from(size).unwrap_or(0)];
        for (index, entry) in change.entries.iter().enumerate() {
            let value = self.value(entry);
            format.put_word(&mut bytes, index * 2 * word, entry.tag);
            format.put_word(&mut bytes, index * 2 * word + word, value);
        }
        match self.dynamic {
            Some(place) => self.fill(place.offset, &bytes),
            None => overwrite(source, patch, segment.offset, &bytes)?,
        }
        Ok(())
    }

    fn value(&self, entry: &DynamicEntry) -> u64 {
        match (entry.tag, self.strings) {
            (tag::STRTAB, Some(strings)) => strings.address,
            (tag::STRSZ, Some(strings)) => strings.size,
            _ => entry.value,
        }
    }

    /// The program headers, and where the file header says that they are.
    fn write_headers(
        &mut self,
        elf: &Elf,
        source: &dyn ReadAt,
        patch: &mut Patch,
    ) -> Result<(), ElfError> {
        let header = elf.header();
        let table: Vec<u8> = self
            .segments
            .iter()
            .flat_map(|segment| segment.to_bytes(header.format))
            .collect();
        match self.headers {
            Some(place) => self.fill(place.offset, &table),
            None => overwrite(source, patch, header.segments_offset, &table)?,
        }
        let mut bytes = vec![0; Header::bytes(header.format.class)];
        source
            .read_exact_at(&mut bytes, 0)
            .map_err(ElfError::reading("the file header", 0))?;
        let old = bytes.clone();
        let count = u16::try_from(self.segments.len()).unwrap_or(u16::MAX);
        let start = self
            .headers
            .map_or(header.segments_offset, |place| place.offset);
        Header::put_segments(header.format, &mut bytes, start, count);
        patch.replace(0, &old, &bytes);
        Ok(())
    }
}

fn put(segment: &mut Segment, place: Place) {
    segment.offset = place.offset;
    (segment.address, segment.physical) = (place.address, place.address);
    (segment.file_size, segment.memory_size) = (place.size, place.size);
}

/// Overwrites bytes of the file that differ.
pub(super) fn overwrite(
    source: &dyn ReadAt,
    patch: &mut Patch,
    offset: u64,
    new: &[u8],
) -> Result<(), ElfError> {
    let mut old = vec![0; new.len()];
    source
        .read_exact_at(&mut old, offset)
        .map_err(ElfError::reading("a table that is to be changed", offset))?;
    patch.replace(offset, &old, new);
    Ok(())
}
