//! Builders of small libraries and programs, of each class and byte order, for tests and fuzzing.
#![expect(
    clippy::unwrap_used,
    reason = "a builder that fails has failed the test"
)]

use std::io;

use super::{
    ElfClass, ElfFormat, ElfHeader, Endianness, ProgramHeader, SectionHeader, machine,
    section_type, segment_flag, segment_type, tag,
};
use rock_bytes::ReadAt;

/// The place of the program headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HeaderPlacement {
    /// After the ELF header.
    AtStart,
    /// In a segment at the end of the file, `gap` bytes above the others, with space for `spare`
    /// more entries, as kpack writes them.
    AtEnd { spare: usize, gap: u64 },
}

/// The properties of a sample file.
#[derive(Debug, Clone)]
pub(super) struct ElfSample {
    pub(super) format: ElfFormat,
    pub(super) machine: u16,
    pub(super) kind: u16,
    pub(super) page: u64,
    /// The address of the first byte.
    pub(super) base: u64,
    pub(super) headers: HeaderPlacement,
    pub(super) is_program: bool,
    pub(super) has_sections: bool,
    pub(super) unused_headers: usize,
    /// Bytes of unused zeros after the program headers.
    pub(super) room: u64,
    /// Size of `.hip_fatbin`, which is all zeros, in bytes.
    pub(super) fat: u64,
    pub(super) needed: Vec<&'static str>,
    /// Additional dynamic entries with a string.
    pub(super) texts: Vec<(u64, &'static str)>,
    pub(super) numbers: Vec<(u64, u64)>,
    /// Number of `DT_NULL` entries, at least one.
    pub(super) nulls: usize,
    /// Size of a word of `.hash` in bytes, if not as GNU ld writes it.
    pub(super) hash_word: Option<usize>,
}

/// Returns a library for each class and byte order that wheels exist for.
pub(super) fn all() -> Vec<ElfSample> {
    let format = |class, endian| ElfFormat {
        class,
        endianness: endian,
    };
    let (small, large) = (ElfClass::Elf32, ElfClass::Elf64);
    [
        (format(large, Endianness::Little), machine::X86_64, 0x1000),
        (format(small, Endianness::Little), machine::I386, 0x1000),
        (
            format(large, Endianness::Little),
            machine::AARCH64,
            0x1_0000,
        ),
        (format(large, Endianness::Big), machine::PPC64, 0x1_0000),
        (format(large, Endianness::Big), machine::S390, 0x1000),
        (format(small, Endianness::Big), machine::ARM, 0x1_0000),
    ]
    .into_iter()
    .map(|(format, machine, page)| ElfSample {
        format,
        machine,
        page,
        ..library()
    })
    .collect()
}

/// Returns a library for x86-64 as GNU ld links it.
pub(super) fn library() -> ElfSample {
    ElfSample {
        format: ElfFormat {
            class: ElfClass::Elf64,
            endianness: Endianness::Little,
        },
        machine: machine::X86_64,
        kind: 3,
        page: 0x1000,
        base: 0,
        headers: HeaderPlacement::AtStart,
        is_program: false,
        has_sections: true,
        unused_headers: 0,
        room: 0,
        fat: 256,
        needed: vec!["libc.so.6", "libfoo.so.1"],
        texts: vec![(tag::SONAME, "libsample.so")],
        numbers: vec![],
        nulls: 5,
        hash_word: None,
    }
}

/// Returns a program for x86-64.
#[cfg(test)]
pub(super) fn program() -> ElfSample {
    ElfSample {
        is_program: true,
        texts: vec![],
        numbers: vec![(tag::DEBUG, 0)],
        ..library()
    }
}

/// Builds a small file that any eight bytes determine.
#[cfg(fuzzing)]
pub fn sample_for_fuzzing(choices: [u8; 8]) -> Vec<u8> {
    let [kind, program, headers, gap, unused, room, entries, nulls] = choices;
    let kinds = all();
    let mut sample = kinds[usize::from(kind) % kinds.len()].clone();
    sample.is_program = program & 1 != 0;
    sample.has_sections = program & 2 == 0;
    (sample.kind, sample.base) = if program & 4 == 0 {
        (3, 0)
    } else {
        (2, 0x40_0000)
    };
    let gap = [0, 0x1_0000, 0x20_0000][usize::from(gap) % 3];
    if headers & 1 != 0 && !(sample.is_program && gap > 0) {
        sample.headers = HeaderPlacement::AtEnd {
            spare: usize::from(headers >> 1) % 6,
            gap,
        };
    }
    sample.unused_headers = usize::from(unused) % 4;
    sample.room = u64::from(room);
    let texts = [
        (tag::RUNPATH, "/opt:$ORIGIN"),
        (tag::RPATH, "$ORIGIN/lib"),
        (tag::SONAME, "libsample.so"),
    ];
    let numbers = [(tag::DEBUG, 0), (tag::RELACOUNT, 3), (tag::RELCOUNT, 1)];
    let chosen = |at: usize| entries >> at & 1 != 0;
    sample.texts = texts
        .into_iter()
        .enumerate()
        .filter(|(at, _)| chosen(*at))
        .map(|(_, one)| one)
        .collect();
    sample.numbers = numbers
        .into_iter()
        .enumerate()
        .filter(|(at, _)| chosen(at + 3))
        .map(|(_, one)| one)
        .collect();
    sample.nulls = 1 + usize::from(nulls) % 6;
    bytes(&sample.build())
}

/// A file of which only some ranges are in memory; the rest are zeros.
#[derive(Debug, Clone, Default)]
pub(super) struct SparseFile {
    pieces: Vec<(u64, Vec<u8>)>,
    size: u64,
}

impl SparseFile {
    fn put(&mut self, offset: u64, bytes: Vec<u8>) {
        self.size = self.size.max(offset + bytes.len() as u64);
        self.pieces.push((offset, bytes));
    }
}

#[cfg(test)]
impl SparseFile {
    /// Returns the file offset of `.hip_fatbin`, which is all zeros and loaded.
    pub(super) fn blank(&self) -> u64 {
        let sections = super::Elf::read(self).unwrap().sections(self).unwrap();
        sections
            .iter()
            .find(|section| section.name == ".hip_fatbin")
            .unwrap()
            .offset
    }

    /// Replaces the bytes at an offset.
    pub(super) fn with(mut self, offset: u64, bytes: Vec<u8>) -> Self {
        self.put(offset, bytes);
        self
    }

    /// Changes the program headers.
    pub(super) fn with_segments(self, mut change: impl FnMut(&mut ProgramHeader)) -> Self {
        let elf = super::Elf::read(&self).unwrap();
        let mut segments = elf.segments().to_vec();
        segments.iter_mut().for_each(&mut change);
        let table = segments
            .iter()
            .flat_map(|segment| segment.to_bytes(elf.header().format))
            .collect();
        self.with(elf.header().segments_offset, table)
    }

    /// Changes the dynamic entries.
    pub(super) fn with_entries(self, mut change: impl FnMut(&mut super::DynamicEntry)) -> Self {
        let elf = super::Elf::read(&self).unwrap();
        let (format, word) = (elf.header().format, elf.header().format.word_bytes());
        let mut table = vec![0; elf.dynamic_entries().len() * 2 * word];
        for (index, mut entry) in elf.dynamic_entries().iter().copied().enumerate() {
            change(&mut entry);
            format.put_word(&mut table, index * 2 * word, entry.tag);
            format.put_word(&mut table, index * 2 * word + word, entry.value);
        }
        self.with(elf.segment(segment_type::DYNAMIC).unwrap().offset, table)
    }
}

impl ReadAt for SparseFile {
    fn size_bytes(&self) -> u64 {
        self.size
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let length = buffer
            .len()
            .min(usize::try_from(self.size.saturating_sub(offset)).unwrap());
        buffer[..length].fill(0);
        for (at, bytes) in &self.pieces {
            let (start, end) = (
                (*at).max(offset),
                (at + bytes.len() as u64).min(offset + length as u64),
            );
            if start < end {
                let of = |from: u64| usize::try_from(start - from).unwrap();
                let count = usize::try_from(end - start).unwrap();
                buffer[of(offset)..of(offset) + count]
                    .copy_from_slice(&bytes[of(*at)..of(*at) + count]);
            }
        }
        Ok(length)
    }
}

/// Returns all bytes of a small file.
pub(super) fn bytes(source: &dyn ReadAt) -> Vec<u8> {
    let mut bytes = vec![0; usize::try_from(source.size_bytes()).unwrap()];
    source.read_exact_at(&mut bytes, 0).unwrap();
    bytes
}

/// A string table in which strings share their ends, as linkers write it.
#[derive(Default)]
struct SampleStrings(Vec<u8>);

impl SampleStrings {
    fn place(&mut self, text: &str) -> u32 {
        let wanted = [text.as_bytes(), b"\0"].concat();
        if self.0.is_empty() {
            self.0.push(0);
        }
        let found = self.0.windows(wanted.len()).position(|part| part == wanted);
        u32::try_from(found.unwrap_or_else(|| {
            self.0.extend_from_slice(&wanted);
            self.0.len() - wanted.len()
        }))
        .unwrap()
    }
}

/// A writer that places sections one after the other.
struct SampleWriter {
    file: SparseFile,
    end: u64,
    /// The difference between addresses and file offsets.
    distance: u64,
    names: SampleStrings,
    sections: Vec<SectionHeader>,
}

impl SampleWriter {
    fn section(&mut self, name: &str, kind: u32, flags: u64, bytes: Vec<u8>) -> usize {
        self.end = self.end.next_multiple_of(8);
        let size = bytes.len() as u64;
        let address = if flags & 2 == 0 {
            0
        } else {
            self.end + self.distance
        };
        let (name_offset, offset) = (self.names.place(name), self.end);
        self.sections.push(SectionHeader {
            name_offset,
            kind,
            flags,
            address,
            offset,
            size,
            align: 8,
            ..SectionHeader::default()
        });
        self.file.put(self.end, bytes);
        self.end += size;
        self.sections.len() - 1
    }
}

const STRTAB_FLAGS: u64 = 2;

impl ElfSample {
    fn symbol(&self, name: u32, info: u8, section: u16, value: u64) -> Vec<u8> {
        let format = self.format;
        let mut bytes = vec![0; super::ElfSymbol::entry_size(format.class)];
        format.put_u32(&mut bytes, 0, name);
        let (info_at, section_at, value_at) = if format.is_64() {
            (4, 6, 8)
        } else {
            (12, 14, 4)
        };
        bytes[info_at] = info;
        format.put_u16(&mut bytes, section_at, section);
        format.put_word(&mut bytes, value_at, value);
        bytes
    }

    /// Returns version needs of `libfoo.so.1` and `libc.so.6`, in this order.
    fn version_needs(&self, texts: &mut SampleStrings) -> Vec<u8> {
        let mut bytes = vec![0; 64];
        for (at, library, version, next) in [
            (0, "libfoo.so.1", "FOO_1", 32),
            (32, "libc.so.6", "GLIBC_2.17", 0),
        ] {
            self.format.put_u16(&mut bytes, at, 1);
            self.format.put_u16(&mut bytes, at + 2, 1);
            self.format
                .put_u32(&mut bytes, at + 4, texts.place(library));
            self.format.put_u32(&mut bytes, at + 8, 16);
            self.format.put_u32(&mut bytes, at + 12, next);
            self.format.put_u16(&mut bytes, at + 22, 2);
            self.format
                .put_u32(&mut bytes, at + 24, texts.place(version));
        }
        bytes
    }

    /// Returns the size of a word of `.hash`, in bytes.
    fn hash_word(&self) -> usize {
        let is_wide = self.format.is_64() && self.machine == machine::S390;
        self.hash_word.unwrap_or(if is_wide { 8 } else { 4 })
    }

    fn hash(&self) -> Vec<u8> {
        let numbers = [1, 2, 1, 0, 0];
        let mut bytes = vec![0; numbers.len() * self.hash_word()];
        for (index, number) in numbers.into_iter().enumerate() {
            if self.hash_word() == 8 {
                self.format.put_u64(&mut bytes, index * 8, number);
            } else {
                self.format
                    .put_u32(&mut bytes, index * 4, u32::try_from(number).unwrap());
            }
        }
        bytes
    }

    pub(super) fn build(&self) -> SparseFile {
        let format = self.format;
        let word = format.word_bytes();
        let count = 4 + usize::from(self.is_program) * 2 + self.unused_headers;
        let start = ElfHeader::size(format.class) as u64;
        let size = ProgramHeader::header_size(format.class);
        let at_start = self.headers == HeaderPlacement::AtStart;
        let table_bytes = if at_start {
            (count * size) as u64 + self.room
        } else {
            0
        };
        let mut out = SampleWriter {
            file: SparseFile::default(),
            end: start + table_bytes,
            distance: self.base,
            names: SampleStrings::default(),
            sections: vec![SectionHeader::default()],
        };
        let mut texts = SampleStrings::default();
        // The symbol shares the end of a longer name.
        texts.place("lib_of_sample");
        let name = texts.place("sample");
        let interpreter = self
            .is_program
            .then(|| out.section(".interp", 1, 2, b"/lib/ld.so\0".to_vec()));
        let hash = out.section(".hash", section_type::HASH, 2, self.hash());
        let symbols = [
            self.symbol(0, 0, 0, 0),
            self.symbol(name, 0x12, 1, self.base + start),
        ]
        .concat();
        let symbols = out.section(".dynsym", section_type::DYNSYM, 2, symbols);
        let versym = out.section(".gnu.version", 0x6fff_ffff, 2, vec![0; 4]);
        let needs = self.version_needs(&mut texts);
        let needs = out.section(".gnu.version_r", 0x6fff_fffe, 2, needs);
        let mut entries: Vec<(u64, u64)> = self
            .needed
            .iter()
            .map(|name| (tag::NEEDED, texts.place(name).into()))
            .collect();
        entries.extend(
            self.texts
                .iter()
                .map(|(tag, text)| (*tag, u64::from(texts.place(text)))),
        );
        let strings = out.section(".dynstr", section_type::STRTAB, STRTAB_FLAGS, texts.0);
        let fat = out.section(".hip_fatbin", 1, 2, vec![]);
        out.sections[fat].size = self.fat;
        out.end += self.fat;
        let first_end = out.end;

        out.end = out.end.next_multiple_of(16);
        out.distance = self.base + self.page;
        let writable = out.end;
        let place = |index: usize| out.sections[index].address;
        entries.extend([
            (tag::HASH, place(hash)),
            (tag::SYMTAB, place(symbols)),
            (tag::STRTAB, place(strings)),
        ]);
        entries.extend([
            (tag::STRSZ, out.sections[strings].size),
            (tag::VERSYM, place(versym)),
        ]);
        entries.extend([(tag::VERNEED, place(needs)), (tag::VERNEEDNUM, 2)]);
        entries.extend(&self.numbers);
        entries.extend(std::iter::repeat_n((tag::NULL, 0), self.nulls));
        let mut table = vec![0; entries.len() * 2 * word];
        for (index, (tag, value)) in entries.into_iter().enumerate() {
            format.put_word(&mut table, index * 2 * word, tag);
            format.put_word(&mut table, index * 2 * word + word, value);
        }
        let dynamic = out.section(".dynamic", section_type::DYNAMIC, 3, table);
        let data = out.section(".data", 1, 3, b"variables".to_vec());
        let (writable_end, dynamic_section) = (out.end, out.sections[dynamic].clone());

        out.section(
            ".comment",
            1,
            0x30,
            b"sample_for_fuzzing by hand\0".to_vec(),
        );
        let moved = self.symbol(
            1,
            1,
            u16::try_from(dynamic).unwrap(),
            dynamic_section.address,
        );
        let symtab = [
            self.symbol(0, 0, 0, 0),
            self.symbol(10, 1, 2, dynamic_section.address),
            moved,
        ]
        .concat();
        let symtab = out.section(".symtab", section_type::SYMTAB, 0, symtab);
        let strtab = out.section(
            ".strtab",
            section_type::STRTAB,
            0,
            b"\0_DYNAMIC\0other\0".to_vec(),
        );
        out.section(".debug_info", 1, 0, vec![7; 500]);
        let own = out.sections.len();
        out.names.place(".shstrtab");
        let names = out.names.0.clone();
        out.section(".shstrtab", section_type::STRTAB, 0, names);
        for (index, link) in [
            (symbols, strings),
            (needs, strings),
            (dynamic, strings),
            (hash, symbols),
            (symtab, strtab),
        ] {
            out.sections[index].link = u32::try_from(link).unwrap();
        }
        let symbol_bytes = super::ElfSymbol::entry_size(format.class) as u64;
        for index in [symbols, symtab] {
            out.sections[index].entry_size = symbol_bytes;
            out.sections[index].info = 1;
        }
        out.sections[needs].info = 2;
        out.sections[versym].entry_size = 2;
        out.sections[hash].entry_size = self.hash_word() as u64;
        out.sections[dynamic].entry_size = 2 * word as u64;
        let _ = data;
        let sections_at = out.end.next_multiple_of(8);
        if self.has_sections {
            let table = out
                .sections
                .iter()
                .flat_map(|section| section.to_bytes(format))
                .collect();
            out.file.put(sections_at, table);
        }

        let load = |offset: u64, address: u64, file_size: u64, flags: u32| ProgramHeader {
            kind: segment_type::LOAD,
            flags,
            offset,
            address,
            physical_address: address,
            file_size,
            memory_size: file_size,
            align: self.page,
        };
        let of = |kind: u32, section: &SectionHeader| ProgramHeader {
            kind,
            align: 8,
            ..load(
                section.offset,
                section.address,
                section.size,
                segment_flag::READ,
            )
        };
        let read_execute = segment_flag::READ | segment_flag::EXECUTE;
        let mut segments = vec![load(0, self.base, first_end, read_execute)];
        let mut second = load(
            writable,
            writable + self.base + self.page,
            writable_end - writable,
            read_execute ^ 3,
        );
        // Zero-initialized memory after the bytes of the file.
        second.memory_size += 0x1234;
        segments.push(second);
        segments.extend(vec![ProgramHeader::default(); self.unused_headers]);
        segments.push(of(segment_type::DYNAMIC, &dynamic_section));
        segments.push(ProgramHeader {
            kind: segment_type::GNU_STACK,
            flags: 6,
            ..ProgramHeader::default()
        });
        if let Some(interpreter) = interpreter {
            let headers = load(
                start,
                self.base + start,
                (count * size) as u64,
                segment_flag::READ,
            );
            segments.insert(
                0,
                ProgramHeader {
                    kind: segment_type::PHDR,
                    align: 8,
                    ..headers
                },
            );
            segments.insert(1, of(segment_type::INTERP, &out.sections[interpreter]));
        }
        let mut segments_at = start;
        if let HeaderPlacement::AtEnd { spare, gap } = self.headers {
            segments.retain(|segment| segment.kind != segment_type::PHDR);
            let capacity = (segments.len() + 2 + spare) * size;
            let mut address = second.memory_end().next_multiple_of(self.page) + gap;
            let mut offset = out.file.size.next_multiple_of(self.page);
            if self.is_program {
                offset = offset.max(address - self.base);
                address = offset + self.base;
            }
            let cover = load(offset, address, capacity as u64, segment_flag::READ);
            let last = segments.iter().rposition(ProgramHeader::is_load).unwrap();
            segments.insert(last + 1, cover);
            segments.insert(
                0,
                ProgramHeader {
                    kind: segment_type::PHDR,
                    align: 8,
                    ..cover
                },
            );
            segments_at = offset;
            out.file.put(offset, vec![0; capacity]);
        }
        out.file.put(
            segments_at,
            segments
                .iter()
                .flat_map(|segment| segment.to_bytes(format))
                .collect(),
        );
        let mut header = vec![0; ElfHeader::size(format.class)];
        header[..4].copy_from_slice(b"\x7fELF");
        header[4] = if format.is_64() { 2 } else { 1 };
        header[5] = if format.endianness == Endianness::Little {
            1
        } else {
            2
        };
        header[6] = 1;
        format.put_u16(&mut header, 16, self.kind);
        format.put_u16(&mut header, 18, self.machine);
        format.put_u32(&mut header, 20, 1);
        let sizes = 24 + 3 * word + 4;
        format.put_u16(&mut header, sizes, u16::try_from(start).unwrap());
        format.put_u16(&mut header, sizes + 2, u16::try_from(size).unwrap());
        format.put_u16(
            &mut header,
            sizes + 6,
            u16::try_from(SectionHeader::header_size(format.class)).unwrap(),
        );
        ElfHeader::write_program_header_table(
            format,
            &mut header,
            segments_at,
            u16::try_from(segments.len()).unwrap(),
        );
        if self.has_sections {
            let (count, own) = (
                u16::try_from(out.sections.len()).unwrap(),
                u16::try_from(own).unwrap(),
            );
            ElfHeader::write_section_header_table(format, &mut header, sections_at, count, own);
        }
        out.file.put(0, header);
        out.file
    }
}
