//! An ELF file as the dynamic linker sees it.

use super::limits::{
    MAX_ANNOUNCED_BYTES, MAX_DYNAMIC_BYTES, MAX_INTERPRETER_BYTES, MAX_PROGRAM_HEADERS_BYTES,
    MAX_READ_STEP_BYTES, MAX_TABLE_BYTES,
};
use super::{
    DynamicEntry, ElfError, ElfHeader, ProgramHeader, SectionHeader, StringTable, segment_flag,
    segment_type, tag,
};
use rock_bytes::ReadAt;

/// The ELF header, program headers and dynamic entries of a file.
///
/// Other tables are read on demand, from the same source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Elf {
    header: ElfHeader,
    segments: Vec<ProgramHeader>,
    dynamic: Vec<DynamicEntry>,
    dynamic_slots: u64,
    size: u64,
}

impl Elf {
    /// Reads the ELF header, the program headers and the dynamic section.
    ///
    /// Announces small loaded segments with [`ReadAt::announce_read`], because later reads go there.
    ///
    /// # Errors
    /// Fails if the file is not an ELF file, or if one of these tables lies outside of it or is
    /// larger than any real one.
    pub fn read(source: &dyn ReadAt) -> Result<Self, ElfError> {
        let header = ElfHeader::read(source)?;
        let size = ProgramHeader::header_size(header.format.class);
        let mut table = vec![0; size * usize::from(header.segment_count)];
        if table.len() > MAX_PROGRAM_HEADERS_BYTES {
            let what = format!(
                "it has {} program headers, more than any loader supports",
                header.segment_count
            );
            return Err(ElfError::Malformed { reason: what });
        }
        let at = header.segments_offset;
        source
            .read_exact_at(&mut table, at)
            .map_err(ElfError::from_read("the table of program headers", at))?;
        let segments: Vec<ProgramHeader> = table
            .chunks_exact(size)
            .map(|one| ProgramHeader::parse(header.format, one))
            .collect();
        for segment in segments
            .iter()
            .filter(|segment| segment.is_load() && segment.file_size <= MAX_ANNOUNCED_BYTES)
        {
            source.announce_read(segment.offset..segment.file_end());
        }
        let (dynamic, dynamic_slots) = read_dynamic(source, &header, &segments)?;
        Ok(Self {
            header,
            segments,
            dynamic,
            dynamic_slots,
            size: source.size_bytes(),
        })
    }

    /// Returns the ELF header.
    pub fn header(&self) -> &ElfHeader {
        &self.header
    }

    /// Returns the program headers.
    pub fn segments(&self) -> &[ProgramHeader] {
        &self.segments
    }

    /// Returns the program headers of type `PT_LOAD`.
    pub fn load_segments(&self) -> impl Iterator<Item = &ProgramHeader> {
        self.segments.iter().filter(|segment| segment.is_load())
    }

    /// Returns the first program header of a type; see [`segment_type`].
    pub fn segment(&self, kind: u32) -> Option<&ProgramHeader> {
        self.segments.iter().find(|segment| segment.kind == kind)
    }

    /// Returns the dynamic entries before the first `DT_NULL`.
    pub fn dynamic_entries(&self) -> &[DynamicEntry] {
        &self.dynamic
    }

    /// Returns the number of entries for which the dynamic section has space, including `DT_NULL`
    /// and everything after it.
    pub fn dynamic_slots(&self) -> u64 {
        self.dynamic_slots
    }

    /// Returns the size of the file, in bytes.
    pub fn size_bytes(&self) -> u64 {
        self.size
    }

    /// Returns the file offset at which the last loaded segment ends, at most the size of the file.
    pub fn loaded_end(&self) -> u64 {
        self.load_segments()
            .map(ProgramHeader::file_end)
            .max()
            .unwrap_or_default()
            .min(self.size)
    }

    /// Returns `true` for a program: an `ET_EXEC` file, or one with the flag `DF_1_PIE`.
    pub fn is_executable(&self) -> bool {
        /// `ET_EXEC` (gABI, chapter 4, `e_type`).
        const EXECUTABLE: u16 = 2;
        /// `DF_1_PIE` (glibc, `elf.h`).
        const PIE: u64 = 0x0800_0000;
        self.header.kind == EXECUTABLE
            || self
                .dynamic_value(tag::FLAGS_1)
                .is_some_and(|flags| flags & PIE != 0)
    }

    /// Returns `true` for a file that `objcopy --only-keep-debug` made: code and dynamic section
    /// have no bytes in the file (GNU binutils manual, objcopy).
    pub fn is_debug_only(&self, source: &dyn ReadAt) -> bool {
        let dynamic = self.segment(segment_type::DYNAMIC);
        let is_bare = |segment: &&ProgramHeader| segment.file_size == 0 && segment.memory_size > 0;
        let code = self
            .load_segments()
            .filter(|load| load.flags & segment_flag::EXECUTE != 0);
        // The section headers are at the end of the file: read them for few files only.
        if dynamic.into_iter().chain(code).find(is_bare).is_none() {
            return false;
        }
        let is_emptied = |section: &SectionHeader| {
            let is_dynamic = dynamic.is_some_and(|segment| segment.address == section.address);
            section.is_alloc() && section.is_nobits() && (section.is_code() || is_dynamic)
        };
        self.sections(source)
            .is_ok_and(|sections| sections.iter().any(is_emptied))
    }

    /// Returns the value of the first dynamic entry with this tag.
    pub fn dynamic_value(&self, tag: u64) -> Option<u64> {
        self.dynamic
            .iter()
            .find(|entry| entry.tag == tag)
            .map(|entry| entry.value)
    }

    /// Returns the file offset of an address, if a loaded segment maps it from the file.
    pub fn file_offset(&self, address: u64) -> Option<u64> {
        self.load_segments()
            .find_map(|segment| segment.file_offset(address))
    }

    /// Returns the number of bytes from an address to the end of its segment in the file.
    pub(super) fn readable_bytes(&self, address: u64) -> u64 {
        let load = self
            .load_segments()
            .find(|load| load.file_offset(address).is_some());
        load.map_or(0, |load| load.file_size - (address - load.address))
    }

    /// Reads bytes at an address into a buffer.
    pub(super) fn read_address(
        &self,
        source: &dyn ReadAt,
        what: &'static str,
        address: u64,
        buffer: &mut [u8],
    ) -> Result<(), ElfError> {
        let offset = self
            .file_offset(address)
            .filter(|_| self.readable_bytes(address) >= buffer.len() as u64);
        let offset = offset.ok_or(ElfError::OutOfBounds {
            what,
            offset: address,
            container: "the loaded segments",
        })?;
        source
            .read_exact_at(buffer, offset)
            .map_err(ElfError::from_read(what, offset))
    }

    /// Reads a table at an address. Its size is checked before memory is allocated.
    pub(super) fn read_table(
        &self,
        source: &dyn ReadAt,
        what: &'static str,
        address: u64,
        size: u64,
    ) -> Result<Vec<u8>, ElfError> {
        let outside = ElfError::OutOfBounds {
            what,
            offset: address,
            container: "the loaded segments",
        };
        let offset = self.file_offset(address);
        let fits = size <= self.readable_bytes(address)
            && offset.is_some_and(|at| at.saturating_add(size) <= self.size);
        match offset {
            Some(offset) if fits => read_bytes(source, what, offset, size),
            _ if size == 0 => Ok(Vec::new()),
            _ => Err(outside),
        }
    }

    /// Reads the string table that dynamic entries and symbols refer to; empty if there is none.
    ///
    /// # Errors
    /// Fails if the table lies outside the loaded segments.
    pub fn string_table(&self, source: &dyn ReadAt) -> Result<StringTable, ElfError> {
        let (Some(start), Some(size)) = (
            self.dynamic_value(tag::STRTAB),
            self.dynamic_value(tag::STRSZ),
        ) else {
            return Ok(StringTable::new(Vec::new()));
        };
        Ok(StringTable::new(self.read_table(
            source,
            "the dynamic strings",
            start,
            size,
        )?))
    }

    /// Returns the strings of all dynamic entries with this tag, in file order: for example the
    /// needed libraries for [`tag::NEEDED`].
    ///
    /// # Errors
    /// Fails if a string lies outside the table or is not UTF-8.
    pub fn dynamic_strings(
        &self,
        strings: &StringTable,
        tag: u64,
    ) -> Result<Vec<String>, ElfError> {
        let found = self.dynamic.iter().filter(|entry| entry.tag == tag);
        found
            .map(|entry| strings.get(entry.value).map(str::to_owned))
            .collect()
    }

    /// Reads the path of the program interpreter (`PT_INTERP`), if there is one.
    ///
    /// # Errors
    /// Fails if it lies outside the file or is not UTF-8.
    pub fn interpreter(&self, source: &dyn ReadAt) -> Result<Option<String>, ElfError> {
        let Some(segment) = self.segment(segment_type::INTERP) else {
            return Ok(None);
        };
        let mut bytes =
            vec![0; usize::try_from(segment.file_size.min(MAX_INTERPRETER_BYTES)).unwrap_or(0)];
        let at = segment.offset;
        source
            .read_exact_at(&mut bytes, at)
            .map_err(ElfError::from_read("the program interpreter", at))?;
        let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
        let no_text = |_| ElfError::Malformed {
            reason: "the program interpreter is not valid text".to_owned(),
        };
        std::str::from_utf8(text)
            .map(|text| Some(text.to_owned()))
            .map_err(no_text)
    }

    /// Reads the section headers with their names; empty if the file has none.
    ///
    /// A name that cannot be read is empty.
    ///
    /// # Errors
    /// Fails if the table lies outside the file.
    pub fn sections(&self, source: &dyn ReadAt) -> Result<Vec<SectionHeader>, ElfError> {
        let (format, at) = (self.header.format, self.header.sections_offset);
        if at == 0 {
            return Ok(Vec::new());
        }
        let (size, what) = (
            SectionHeader::header_size(format.class),
            "the table of section headers",
        );
        let mut first = vec![0; size];
        source
            .read_exact_at(&mut first, at)
            .map_err(ElfError::from_read(what, at))?;
        let first = SectionHeader::parse(format, &first);
        // Numbers that 16 bits cannot hold are in the first header (gABI, `e_shnum`, `e_shstrndx`).
        let count = if self.header.section_count == 0 {
            first.size
        } else {
            self.header.section_count.into()
        };
        let names = if self.header.name_section_index == u16::MAX {
            first.link
        } else {
            self.header.name_section_index.into()
        };
        let length = count.saturating_mul(size as u64);
        let outside = ElfError::OutOfBounds {
            what,
            offset: at,
            container: "the file",
        };
        let fits = at.checked_add(length).is_some_and(|end| end <= self.size);
        if !fits {
            return Err(outside);
        }
        let table = read_bytes(source, what, at, length)?;
        let mut sections: Vec<SectionHeader> = table
            .chunks_exact(size)
            .map(|one| SectionHeader::parse(format, one))
            .collect();
        let names = sections
            .get(names as usize)
            .map(|section| (section.offset, section.size));
        let Some((offset, size)) =
            names.filter(|(offset, size)| offset.saturating_add(*size) <= self.size)
        else {
            return Ok(sections);
        };
        let strings = StringTable::new(read_bytes(source, "the names of sections", offset, size)?);
        for section in &mut sections {
            strings
                .get(section.name_offset.into())
                .unwrap_or_default()
                .clone_into(&mut section.name);
        }
        Ok(sections)
    }
}

/// Reads bytes at a file offset, allocating memory step by step.
fn read_bytes(
    source: &dyn ReadAt,
    what: &'static str,
    offset: u64,
    size: u64,
) -> Result<Vec<u8>, ElfError> {
    let length = checked(what, size, MAX_TABLE_BYTES)?;
    let mut bytes = Vec::new();
    while bytes.len() < length {
        let start = bytes.len();
        bytes.resize(length.min(start + MAX_READ_STEP_BYTES), 0);
        let at = offset + start as u64;
        source
            .read_exact_at(&mut bytes[start..], at)
            .map_err(ElfError::from_read(what, at))?;
    }
    Ok(bytes)
}

/// Returns the size of a table as a `usize` if it is within the limit.
fn checked(what: &'static str, size: u64, limit: u64) -> Result<usize, ElfError> {
    let too_large = || ElfError::Malformed {
        reason: format!("{what} would have {size} bytes, more than any file has"),
    };
    usize::try_from(size)
        .ok()
        .filter(|_| size <= limit)
        .ok_or_else(too_large)
}

fn read_dynamic(
    source: &dyn ReadAt,
    header: &ElfHeader,
    segments: &[ProgramHeader],
) -> Result<(Vec<DynamicEntry>, u64), ElfError> {
    // An empty dynamic section may have any offset.
    let dynamic = segments
        .iter()
        .find(|segment| segment.kind == segment_type::DYNAMIC);
    let Some(segment) = dynamic.filter(|segment| segment.file_size > 0) else {
        return Ok((Vec::new(), 0));
    };
    let what = "the dynamic table";
    if segment.file_end() > source.size_bytes() {
        return Err(ElfError::OutOfBounds {
            what,
            offset: segment.offset,
            container: "the file",
        });
    }
    let (format, word) = (header.format, header.format.word_bytes());
    let mut table = vec![0; checked(what, segment.file_size, MAX_DYNAMIC_BYTES)?];
    source
        .read_exact_at(&mut table, segment.offset)
        .map_err(ElfError::from_read(what, segment.offset))?;
    let entries = table.chunks_exact(2 * word);
    let slots = entries.len() as u64;
    let entry = |bytes: &[u8]| DynamicEntry {
        tag: format.word(bytes, 0),
        value: format.word(bytes, word),
    };
    Ok((
        entries
            .map(entry)
            .take_while(|entry| entry.tag != tag::NULL)
            .collect(),
        slots,
    ))
}
