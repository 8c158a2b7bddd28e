//! A file as its loader sees it.

use super::limits::{
    MAX_ANNOUNCED_BYTES, MAX_DYNAMIC_BYTES, MAX_INTERPRETER_BYTES, MAX_PROGRAM_HEADERS_BYTES,
    MAX_READ_STEP_BYTES, MAX_TABLE_BYTES,
};
use super::{
    DynamicEntry, ElfError, Header, Section, Segment, Strings, segment_flag, segment_type, tag,
};
use rock_bytes::ReadAt;

/// The header, the program headers and the dynamic entries of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Elf {
    header: Header,
    segments: Vec<Segment>,
    dynamic: Vec<DynamicEntry>,
    dynamic_slots: u64,
    size: u64,
}

impl Elf {
    /// Reads what a loader reads first. The tables that dynamic entries lead to are read when asked
    /// for.
    ///
    /// # Errors
    /// When it is no ELF file, or a table lies outside it.
    pub fn read(source: &dyn ReadAt) -> Result<Self, ElfError> {
        let header = Header::read(source)?;
        let size = Segment::bytes(header.format.class);
        let mut table = vec![0; size * usize::from(header.segment_count)];
        if table.len() > MAX_PROGRAM_HEADERS_BYTES {
            let what = format!(
                "it has {} program headers, more than any loader takes",
                header.segment_count
            );
            return Err(ElfError::Damaged { what });
        }
        let at = header.segments_offset;
        source
            .read_exact_at(&mut table, at)
            .map_err(ElfError::reading("the table of program headers", at))?;
        let segments: Vec<Segment> = table
            .chunks_exact(size)
            .map(|one| Segment::parse(header.format, one))
            .collect();
        for segment in segments
            .iter()
            .filter(|segment| segment.is_load() && segment.file_size <= MAX_ANNOUNCED_BYTES)
        {
            source.will_read(segment.offset..segment.file_end());
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

    /// The file header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The program headers.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The segments that are mapped into memory.
    pub fn loads(&self) -> impl Iterator<Item = &Segment> {
        self.segments.iter().filter(|segment| segment.is_load())
    }

    /// The first segment of a kind.
    pub fn segment(&self, kind: u32) -> Option<&Segment> {
        self.segments.iter().find(|segment| segment.kind == kind)
    }

    /// The dynamic entries before the one that ends the table.
    pub fn dynamic(&self) -> &[DynamicEntry] {
        &self.dynamic
    }

    /// How many entries the dynamic table has room for, those after its end among them.
    pub fn dynamic_slots(&self) -> u64 {
        self.dynamic_slots
    }

    /// How many bytes the file has.
    pub fn size_bytes(&self) -> u64 {
        self.size
    }

    /// Where the bytes end that loading the file needs.
    pub fn loaded_end(&self) -> u64 {
        self.loads()
            .map(Segment::file_end)
            .max()
            .unwrap_or_default()
            .min(self.size)
    }

    /// Whether it says of itself that it is a program: by its type, or by a flag where that is the
    /// type of libraries, too.
    pub fn says_program(&self) -> bool {
        /// `ET_EXEC` (gABI, chapter 4, `e_type`).
        const EXECUTABLE: u16 = 2;
        /// `DF_1_PIE` (glibc, `elf.h`).
        const PIE: u64 = 0x0800_0000;
        self.header.kind == EXECUTABLE
            || self
                .value(tag::FLAGS_1)
                .is_some_and(|flags| flags & PIE != 0)
    }

    /// Whether it holds what debuggers read of another file, and nothing that a loader takes: code
    /// and dynamic entries are in sections without bytes (GNU binutils manual, objcopy,
    /// `--only-keep-debug`).
    pub fn is_debug_alone(&self, source: &dyn ReadAt) -> bool {
        let dynamic = self.segment(segment_type::DYNAMIC);
        let is_bare = |segment: &&Segment| segment.file_size == 0 && segment.memory_size > 0;
        let code = self
            .loads()
            .filter(|load| load.flags & segment_flag::EXECUTE != 0);
        // Sections lie at the end of the file, so that they are read of few files.
        if dynamic.into_iter().chain(code).find(is_bare).is_none() {
            return false;
        }
        let is_emptied = |section: &Section| {
            let is_dynamic = dynamic.is_some_and(|segment| segment.address == section.address);
            section.is_alloc() && section.is_nobits() && (section.is_code() || is_dynamic)
        };
        self.sections(source)
            .is_ok_and(|sections| sections.iter().any(is_emptied))
    }

    /// The value of the first dynamic entry with this tag.
    pub fn value(&self, tag: u64) -> Option<u64> {
        self.dynamic
            .iter()
            .find(|entry| entry.tag == tag)
            .map(|entry| entry.value)
    }

    /// The offset in the file of an address that the file fills.
    pub fn file_offset(&self, address: u64) -> Option<u64> {
        self.loads()
            .find_map(|segment| segment.file_offset(address))
    }

    /// How many bytes can be read from an address on.
    pub(super) fn readable(&self, address: u64) -> u64 {
        let load = self
            .loads()
            .find(|load| load.file_offset(address).is_some());
        load.map_or(0, |load| load.file_size - (address - load.address))
    }

    /// Fills a buffer from an address.
    pub(super) fn read_address(
        &self,
        source: &dyn ReadAt,
        what: &'static str,
        address: u64,
        buffer: &mut [u8],
    ) -> Result<(), ElfError> {
        let offset = self
            .file_offset(address)
            .filter(|_| self.readable(address) >= buffer.len() as u64);
        let offset = offset.ok_or(ElfError::Outside {
            what,
            offset: address,
            of: "what is loaded",
        })?;
        source
            .read_exact_at(buffer, offset)
            .map_err(ElfError::reading(what, offset))
    }

    /// A table at an address; its size is checked before room is made.
    pub(super) fn read_table(
        &self,
        source: &dyn ReadAt,
        what: &'static str,
        address: u64,
        size: u64,
    ) -> Result<Vec<u8>, ElfError> {
        let outside = ElfError::Outside {
            what,
            offset: address,
            of: "what is loaded",
        };
        let offset = self.file_offset(address);
        let fits = size <= self.readable(address)
            && offset.is_some_and(|at| at.saturating_add(size) <= self.size);
        match offset {
            Some(offset) if fits => read_bytes(source, what, offset, size),
            _ if size == 0 => Ok(Vec::new()),
            _ => Err(outside),
        }
    }

    /// The names that dynamic entries and symbols point into.
    ///
    /// # Errors
    /// When the table lies outside what is loaded.
    pub fn strings(&self, source: &dyn ReadAt) -> Result<Strings, ElfError> {
        let (Some(start), Some(size)) = (self.value(tag::STRTAB), self.value(tag::STRSZ)) else {
            return Ok(Strings::new(Vec::new()));
        };
        Ok(Strings::new(self.read_table(
            source,
            "the dynamic strings",
            start,
            size,
        )?))
    }

    /// The texts of all dynamic entries with this tag, in order: names of needed libraries, search
    /// paths.
    ///
    /// # Errors
    /// When a text lies outside the table.
    pub fn texts(&self, strings: &Strings, tag: u64) -> Result<Vec<String>, ElfError> {
        let found = self.dynamic.iter().filter(|entry| entry.tag == tag);
        found
            .map(|entry| strings.text(entry.value).map(str::to_owned))
            .collect()
    }

    /// The name of the program interpreter, where the file has one.
    ///
    /// # Errors
    /// When it lies outside the file or is no text.
    pub fn interpreter(&self, source: &dyn ReadAt) -> Result<Option<String>, ElfError> {
        let Some(segment) = self.segment(segment_type::INTERP) else {
            return Ok(None);
        };
        let mut bytes =
            vec![0; usize::try_from(segment.file_size.min(MAX_INTERPRETER_BYTES)).unwrap_or(0)];
        let at = segment.offset;
        source
            .read_exact_at(&mut bytes, at)
            .map_err(ElfError::reading("the program interpreter", at))?;
        let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
        let no_text = |_| ElfError::Damaged {
            what: "the program interpreter is no text".to_owned(),
        };
        std::str::from_utf8(text)
            .map(|text| Some(text.to_owned()))
            .map_err(no_text)
    }

    /// The section headers with their names; none where the file has none.
    ///
    /// # Errors
    /// When the table lies outside the file.
    pub fn sections(&self, source: &dyn ReadAt) -> Result<Vec<Section>, ElfError> {
        let (format, at) = (self.header.format, self.header.sections_offset);
        if at == 0 {
            return Ok(Vec::new());
        }
        let (size, what) = (Section::bytes(format.class), "the table of section headers");
        let mut first = vec![0; size];
        source
            .read_exact_at(&mut first, at)
            .map_err(ElfError::reading(what, at))?;
        let first = Section::parse(format, &first);
        // More sections than 16 bits can count are counted in the first header (gABI, `e_shnum`,
        // `e_shstrndx`).
        let count = if self.header.section_count == 0 {
            first.size
        } else {
            self.header.section_count.into()
        };
        let names = if self.header.names_section == u16::MAX {
            first.link
        } else {
            self.header.names_section.into()
        };
        let length = count.saturating_mul(size as u64);
        let outside = ElfError::Outside {
            what,
            offset: at,
            of: "the file",
        };
        let fits = at.checked_add(length).is_some_and(|end| end <= self.size);
        if !fits {
            return Err(outside);
        }
        let table = read_bytes(source, what, at, length)?;
        let mut sections: Vec<Section> = table
            .chunks_exact(size)
            .map(|one| Section::parse(format, one))
            .collect();
        let names = sections
            .get(names as usize)
            .map(|section| (section.offset, section.size));
        let Some((offset, size)) =
            names.filter(|(offset, size)| offset.saturating_add(*size) <= self.size)
        else {
            return Ok(sections);
        };
        let strings = Strings::new(read_bytes(source, "the names of sections", offset, size)?);
        for section in &mut sections {
            strings
                .text(section.name_offset.into())
                .unwrap_or_default()
                .clone_into(&mut section.name);
        }
        Ok(sections)
    }
}

/// Bytes of the file from an offset on. Room is made as they come.
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
            .map_err(ElfError::reading(what, at))?;
    }
    Ok(bytes)
}

/// The size of a table that is not larger than any file has it.
fn checked(what: &'static str, size: u64, limit: u64) -> Result<usize, ElfError> {
    let too_large = || ElfError::Damaged {
        what: format!("{what} would have {size} bytes, more than any file has"),
    };
    usize::try_from(size)
        .ok()
        .filter(|_| size <= limit)
        .ok_or_else(too_large)
}

fn read_dynamic(
    source: &dyn ReadAt,
    header: &Header,
    segments: &[Segment],
) -> Result<(Vec<DynamicEntry>, u64), ElfError> {
    // A table without bytes lies nowhere, wherever it says.
    let dynamic = segments
        .iter()
        .find(|segment| segment.kind == segment_type::DYNAMIC);
    let Some(segment) = dynamic.filter(|segment| segment.file_size > 0) else {
        return Ok((Vec::new(), 0));
    };
    let what = "the dynamic table";
    if segment.file_end() > source.size_bytes() {
        return Err(ElfError::Outside {
            what,
            offset: segment.offset,
            of: "the file",
        });
    }
    let (format, word) = (header.format, header.format.word_bytes());
    let mut table = vec![0; checked(what, segment.file_size, MAX_DYNAMIC_BYTES)?];
    source
        .read_exact_at(&mut table, segment.offset)
        .map_err(ElfError::reading(what, segment.offset))?;
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
