//! Limits on ELF files, so that reading and editing take bounded memory and time for any input.
//!
//! Sizes in a file are compared with these limits, and with the size of the file, before memory is
//! allocated. A table takes at most 256 MiB, and a few tables are in memory at once.

/// Bytes of the program headers, the maximum that Linux loads (`fs/binfmt_elf.c`,
/// `load_elf_phdrs`): 1,170 headers of 64-bit files and 2,048 of 32-bit ones. Linkers write about
/// ten.
pub(super) const MAX_PROGRAM_HEADERS_BYTES: usize = 1 << 16;
/// Bytes of the dynamic section: about a million entries, which take as much memory again. The
/// largest known one has a few hundred entries.
pub(super) const MAX_DYNAMIC_BYTES: u64 = 16 << 20;
/// Bytes of any other table in memory: strings, symbols, version indexes, hash buckets, section
/// headers. The largest known one is the string table of libtorch, 15 MB.
pub(super) const MAX_TABLE_BYTES: u64 = 256 << 20;
/// Step in bytes by which the buffer for a table grows, so that a source that ends before the size
/// that it claims costs at most its own size and one step.
pub(super) const MAX_READ_STEP_BYTES: usize = 16 << 20;
/// Bytes of a loaded segment up to which it is announced before the dynamic section is read, so
/// that the reader of a compressed member keeps it: patchelf adds small segments for its tables.
/// Larger segments are read by position on demand.
pub(super) const MAX_ANNOUNCED_BYTES: u64 = 4 << 20;
/// Bytes of the path of the program interpreter, including its terminating zero (limits.h,
/// `PATH_MAX`); the rest is not read.
pub(super) const MAX_INTERPRETER_BYTES: u64 = 4 << 10;
/// Bytes of one note segment; the rest is not read. Notes of libraries have a few hundred bytes.
pub(super) const MAX_NOTES_BYTES: u64 = 1 << 20;
/// Reads of each byte of a string table, on average; small tables get [`MAX_MORE_NAME_BYTES`] more.
/// Names that share their ends with others are together longer than their table, but not much in
/// files from linkers.
pub(super) const MAX_NAME_READS: usize = 8;
/// See [`MAX_NAME_READS`].
pub(super) const MAX_MORE_NAME_BYTES: usize = 1 << 20;
/// Dynamic symbols that are counted; larger counts are reduced to this one. [`MAX_TABLE_BYTES`]
/// limits the symbol table earlier, to 11 million symbols of a 64-bit file; this limit bounds the
/// time for counting.
pub(super) const MAX_SYMBOLS: u64 = 1 << 28;
/// Symbols that are compared in one chain of the GNU hash table. Linkers create about as many
/// chains as symbols, so that a chain has a handful.
pub(super) const MAX_HASH_LINKS: u32 = 1 << 16;
/// Libraries with version needs; more are not read. Real files have a few dozen.
pub(super) const MAX_VERSION_LIBRARIES: u64 = 65_535;
/// Version needs of all libraries together. libtorch has fewer than a hundred.
pub(super) const MAX_NEEDED_VERSIONS: u32 = 100_000;
/// Libraries with version needs, and version needs, that an edit protects from its overwrites;
/// later ones are not checked. It bounds the time of an edit, because each is compared with all
/// overwrites.
pub(super) const MAX_GUARDED_VERSIONS: u64 = 1 << 14;
/// Bytes of zeros that an edit may add before the data that it appends. Programs whose memory image
/// is larger than their file by more than this are refused: old kernels expect the program headers
/// at the same distance from the first segment in both.
pub(super) const MAX_EDIT_PADDING_BYTES: u64 = 1 << 30;
/// Bytes after the end of the ELF data that stripping may drop: padding to a page. More may be
/// another file, such as an archive.
pub(super) const MAX_STRIP_PADDING_BYTES: u64 = 4 << 10;

#[cfg(test)]
mod tests {
    use std::io;
    use std::ops::Range;
    use std::sync::Mutex;

    use super::super::sample::{self, ElfSample, SparseFile, library, program};
    use super::super::{Elf, ElfError, StringTable, segment_flag, segment_type, tag};
    use super::*;
    use rock_bytes::ReadAt;

    /// A source that records reads and announcements. Reads at or after `end` fail.
    struct RecordingSource {
        source: SparseFile,
        end: u64,
        reads: Mutex<Vec<usize>>,
        announced: Mutex<Vec<Range<u64>>>,
    }

    impl RecordingSource {
        fn new(source: SparseFile, end: u64) -> Self {
            Self {
                source,
                end,
                reads: Mutex::default(),
                announced: Mutex::default(),
            }
        }
    }

    impl ReadAt for RecordingSource {
        fn size_bytes(&self) -> u64 {
            self.source.size_bytes()
        }

        fn announce_read(&self, range: Range<u64>) {
            self.announced.lock().unwrap().push(range);
        }

        fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
            self.reads.lock().unwrap().push(buffer.len());
            if offset >= self.end {
                return Err(io::Error::other("it is not there"));
            }
            self.source.read_at(buffer, offset)
        }
    }

    fn message<T: std::fmt::Debug>(found: Result<T, ElfError>) -> String {
        found.unwrap_err().to_string()
    }

    /// Returns the little-endian bytes of 32-bit integers.
    fn words(numbers: &[u64]) -> Vec<u8> {
        numbers
            .iter()
            .flat_map(|number| u32::try_from(*number).unwrap().to_le_bytes())
            .collect()
    }

    /// For each class, the maximum number of program headers is read, and one more is an error.
    #[test]
    fn program_headers_up_to_the_limit_are_read() {
        for (sample, limit) in [(library(), 1170), (sample::all().remove(1), 2048)] {
            let read = |count: usize| {
                Elf::read(
                    &ElfSample {
                        unused_headers: count - 4,
                        ..sample.clone()
                    }
                    .build(),
                )
            };
            assert_eq!(read(limit).unwrap().segments().len(), limit);
            let expected = format!(
                "it has {} program headers, more than any loader supports",
                limit + 1
            );
            assert_eq!(message(read(limit + 1)), expected);
        }
    }

    /// A dynamic section of the maximum size is read, and one byte more is an error.
    #[test]
    fn a_dynamic_table_up_to_the_limit_is_read() {
        let source = ElfSample {
            fat: 17 << 20,
            ..library()
        }
        .build();
        let blank = source.blank();
        let read = |size: u64| {
            let change = |segment: &mut super::super::ProgramHeader| {
                if segment.kind == segment_type::DYNAMIC {
                    (segment.offset, segment.file_size) = (blank, size);
                }
            };
            Elf::read(&source.clone().with_segments(change))
        };
        assert_eq!(read(MAX_DYNAMIC_BYTES).unwrap().dynamic_slots(), 1 << 20);
        let expected = "the dynamic table would have 16777217 bytes, more than any file has";
        assert_eq!(message(read(MAX_DYNAMIC_BYTES + 1)), expected);
    }

    /// A size of the dynamic section that is not a multiple of an entry leaves the entries as they
    /// are: the dynamic linker stops at `DT_NULL`.
    #[test]
    fn an_odd_dynamic_size_changes_no_entry() {
        let source = library().build();
        let odd = source.clone().with_segments(|segment| {
            if segment.kind == segment_type::DYNAMIC {
                segment.file_size -= 1;
            }
        });
        let (whole, odd) = (Elf::read(&source).unwrap(), Elf::read(&odd).unwrap());
        assert!(!whole.dynamic_entries().is_empty());
        assert_eq!(odd.dynamic_entries(), whole.dynamic_entries());
        assert_eq!(odd.dynamic_slots(), whole.dynamic_slots() - 1);
    }

    /// Reads a string table in the zeros of a library; also returns the sizes of the reads.
    fn names(size: u64, has_end: bool) -> (Result<StringTable, ElfError>, Vec<usize>) {
        let source = ElfSample {
            fat: MAX_TABLE_BYTES + 1,
            ..library()
        }
        .build();
        let blank = source.blank();
        let source = source.with_entries(|entry| match entry.tag {
            tag::STRTAB => entry.value = blank,
            tag::STRSZ => entry.value = size,
            _ => {}
        });
        let elf = Elf::read(&source).unwrap();
        let watched = RecordingSource::new(source, if has_end { blank } else { u64::MAX });
        let strings = elf.string_table(&watched);
        (strings, watched.reads.into_inner().unwrap())
    }

    /// A table of the maximum size is read; one byte more is an error before the first read.
    #[test]
    fn a_table_up_to_the_limit_is_read() {
        let (found, reads) = names(MAX_TABLE_BYTES, true);
        assert_eq!(
            (message(found), reads),
            (
                "it cannot be read: it is not there".to_owned(),
                vec![MAX_READ_STEP_BYTES]
            )
        );
        let (found, reads) = names(MAX_TABLE_BYTES + 1, true);
        assert_eq!(
            message(found),
            "the dynamic strings would have 268435457 bytes, more than any file has"
        );
        assert!(reads.is_empty());
    }

    /// One step is one read; a byte more is a second read.
    #[test]
    fn memory_for_a_table_grows_in_steps() {
        let step = MAX_READ_STEP_BYTES as u64;
        assert_eq!(names(step, false).1, [MAX_READ_STEP_BYTES]);
        assert_eq!(names(step + 1, false).1, [MAX_READ_STEP_BYTES, 1]);
    }

    /// A segment of the maximum size is announced, and a larger one is not.
    #[test]
    fn segments_up_to_the_limit_are_announced() {
        let is_announced = |size: u64| {
            let source = ElfSample {
                fat: 5 << 20,
                ..library()
            }
            .build()
            .with_segments(|segment| {
                if segment.is_load() && segment.flags & segment_flag::EXECUTE != 0 {
                    segment.file_size = size;
                }
            });
            let watched = RecordingSource::new(source, u64::MAX);
            Elf::read(&watched).unwrap();
            watched.announced.into_inner().unwrap().contains(&(0..size))
        };
        assert!(is_announced(MAX_ANNOUNCED_BYTES) && !is_announced(MAX_ANNOUNCED_BYTES + 1));
    }

    /// A longer path is truncated at the limit.
    #[test]
    fn the_name_of_an_interpreter_is_read_up_to_the_limit() {
        let source = ElfSample {
            fat: 8 << 10,
            ..program()
        }
        .build();
        let blank = source.blank();
        let read = |size: u64| {
            let source = source
                .clone()
                .with(blank, vec![b'x'; usize::try_from(size).unwrap()]);
            let source = source.with_segments(|segment| {
                if segment.kind == segment_type::INTERP {
                    (segment.offset, segment.file_size) = (blank, size);
                }
            });
            let name = Elf::read(&source).unwrap().interpreter(&source).unwrap();
            name.unwrap().len() as u64
        };
        let limit = MAX_INTERPRETER_BYTES;
        assert_eq!(
            [limit - 1, limit, limit + 1].map(read),
            [limit - 1, limit, limit]
        );
    }

    /// A note that ends where the limit is counts, and one that ends behind it does not.
    #[test]
    fn notes_up_to_the_limit_are_read() {
        let source = ElfSample {
            fat: 2 << 20,
            ..library()
        }
        .build();
        let blank = source.blank();
        // A note without a name fills the room before the one that needs x86-64-v2
        // (`NT_GNU_PROPERTY_TYPE_0`).
        let property = [
            words(&[4, 16, 5]),
            b"GNU\0".to_vec(),
            words(&[0xc000_8002, 4, 2, 0]),
        ]
        .concat();
        let level = |size: u64| {
            let at = size - property.len() as u64;
            let source = source
                .clone()
                .with(blank, words(&[0, at - 16, 0]))
                .with(blank + at, property.clone());
            let source = source.with_segments(|segment| {
                if segment.kind == segment_type::GNU_STACK {
                    (segment.kind, segment.offset) = (segment_type::NOTE, blank);
                    (segment.file_size, segment.align) = (size, 8);
                }
            });
            Elf::read(&source).unwrap().x86_isa_needed(&source).unwrap()
        };
        assert_eq!(
            [level(MAX_NOTES_BYTES), level(MAX_NOTES_BYTES + 8)],
            [Some(1), None]
        );
    }

    /// A table of a mebibyte is read eight times and a mebibyte more; the smallest table allows a
    /// mebibyte of names too.
    #[test]
    fn names_are_read_up_to_the_limit() {
        let reads = |table: Vec<u8>| {
            let strings = StringTable::new(table);
            let reads = std::iter::repeat_with(|| strings.get(0))
                .take_while(Result::is_ok)
                .count();
            assert_eq!(
                message(strings.get(0)),
                "its names overlap more than names can"
            );
            reads
        };
        assert_eq!(
            reads([vec![b'a'; MAX_MORE_NAME_BYTES - 1], vec![0]].concat()),
            MAX_NAME_READS + 1
        );
        assert_eq!(reads(vec![0]), MAX_NAME_READS + MAX_MORE_NAME_BYTES);
    }

    /// Larger counts in `.hash` are reduced to the limit.
    #[test]
    fn symbols_are_counted_up_to_the_limit() {
        let source = library().build();
        let hash = Elf::read(&source)
            .unwrap()
            .dynamic_value(tag::HASH)
            .unwrap();
        let count = |symbols: u64| {
            let source = source.clone().with(hash + 4, words(&[symbols]));
            Elf::read(&source).unwrap().symbol_count(&source).unwrap()
        };
        assert_eq!(
            [MAX_SYMBOLS - 1, MAX_SYMBOLS, MAX_SYMBOLS + 1].map(count),
            [MAX_SYMBOLS - 1, MAX_SYMBOLS, MAX_SYMBOLS]
        );
    }

    /// Builds a library whose `DT_GNU_HASH` is a table with one bucket; also returns the address of
    /// its chains.
    fn with_gnu_hash(fat: u64, first: u64, bucket: u64) -> (SparseFile, u64) {
        let source = ElfSample { fat, ..library() }.build();
        let blank = source.blank();
        let source = source
            .with(blank, words(&[1, first, 1, 0, 0, 0, bucket]))
            .with_entries(|entry| {
                if entry.tag == tag::HASH {
                    (entry.tag, entry.value) = (tag::GNU_HASH, blank);
                }
            });
        (source, blank + 7 * 4)
    }

    /// The last chain must end within the limit.
    #[test]
    fn symbols_of_gnu_hash_are_counted_up_to_the_limit() {
        let count = |first: u64, chain: &[u64]| {
            let (source, chains) = with_gnu_hash(256, first, first);
            let source = source.with(chains, words(chain));
            Elf::read(&source).unwrap().symbol_count(&source)
        };
        assert_eq!(count(MAX_SYMBOLS - 1, &[1]).unwrap(), MAX_SYMBOLS);
        for (first, chain) in [(MAX_SYMBOLS, &[1][..]), (MAX_SYMBOLS - 1, &[0, 1])] {
            assert_eq!(
                message(count(first, chain)),
                "the GNU hash table has no end"
            );
        }
    }

    /// A chain of the maximum length is followed to its end; one more link is an error.
    #[test]
    fn chains_up_to_the_limit_are_walked() {
        let names = ["PyInit_demo".to_owned()];
        let find = |links: u32| {
            let (source, chains) = with_gnu_hash(u64::from(MAX_HASH_LINKS + 100) * 4, 1, 1);
            let bytes = sample::bytes(&source.with(chains + u64::from(links - 1) * 4, words(&[1])));
            let elf = Elf::read(&bytes).unwrap();
            elf.find_defined_function(&bytes, &elf.string_table(&bytes).unwrap(), &names)
                .map(|found| found.is_some())
        };
        assert!(!find(MAX_HASH_LINKS).unwrap());
        assert_eq!(
            message(find(MAX_HASH_LINKS + 1)),
            "a chain of the GNU hash table has more than 65536 links"
        );
    }

    /// Returns the numbers of libraries and versions in a table of version needs.
    fn version_needs(table: &[u8], count: u64) -> Result<[usize; 2], ElfError> {
        let source = ElfSample {
            fat: 2 << 20,
            ..library()
        }
        .build();
        let blank = source.blank();
        let bytes =
            sample::bytes(&source.with(blank, table.to_vec()).with_entries(
                |entry| match entry.tag {
                    tag::VERNEED => entry.value = blank,
                    tag::VERNEEDNUM => entry.value = count,
                    _ => {}
                },
            ));
        let elf = Elf::read(&bytes).unwrap();
        let needs = elf.version_needs(&bytes, &elf.string_table(&bytes).unwrap())?;
        Ok([
            needs.len(),
            needs.iter().map(|need| need.versions.len()).sum(),
        ])
    }

    #[test]
    fn libraries_of_versions_are_read_up_to_the_limit() {
        let limit = usize::try_from(MAX_VERSION_LIBRARIES).unwrap();
        let table = words(&[1, 0, 16, 16]).repeat(limit + 1);
        let needed = |count: usize| version_needs(&table, count as u64).unwrap();
        assert_eq!(
            [limit - 1, limit, limit + 1].map(needed),
            [[limit - 1, 0], [limit, 0], [limit, 0]]
        );
    }

    /// The limit counts the versions of all libraries together.
    #[test]
    fn needed_versions_are_read_up_to_the_limit() {
        let needed = |versions: u32| {
            // Two libraries share one list of versions.
            let (most, rest) = (
                u64::from(u16::MAX),
                u64::from(versions) - u64::from(u16::MAX),
            );
            let heads = words(&[1 | most << 16, 0, 32, 16, 1 | rest << 16, 0, 16, 0]);
            version_needs(
                &[heads, words(&[0, 0, 0, 16]).repeat(u16::MAX.into())].concat(),
                2,
            )
        };
        assert_eq!(needed(MAX_NEEDED_VERSIONS).unwrap(), [2, 100_000]);
        assert_eq!(
            message(needed(MAX_NEEDED_VERSIONS + 1)),
            "more than 100000 symbol versions are needed"
        );
    }
}
