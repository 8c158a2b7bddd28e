//! Limits on ELF files, so that reading and editing one takes bounded memory and time whatever it
//! claims.
//!
//! Sizes that a file claims are compared with these limits, and with the size of the file, before
//! room is made. At all of them a table takes 256 MiB, and a few of them are held at once.

/// Bytes of the table of program headers, as Linux takes no more (`fs/binfmt_elf.c`,
/// `load_elf_phdrs`): 1,170 headers of 64-bit files and 2,048 of 32-bit ones. Linkers write about
/// ten.
pub(super) const MAX_PROGRAM_HEADERS_BYTES: usize = 1 << 16;
/// Bytes of the dynamic table: about a million entries, which take as much memory again. The
/// largest known table has a few hundred entries.
pub(super) const MAX_DYNAMIC_BYTES: u64 = 16 << 20;
/// Bytes of any other table that is held as a whole: names, symbols, their versions, hash buckets,
/// section headers. The largest known is 15 MB of names, in libtorch.
pub(super) const MAX_TABLE_BYTES: u64 = 256 << 20;
/// Bytes by which the memory for a table grows while it is read, so that a source that ends before
/// the size that it claims costs no more than what it has and one step.
pub(super) const MAX_READ_STEP_BYTES: usize = 16 << 20;
/// Bytes of a loaded segment that is announced before the dynamic table is read, so that a
/// compressed member keeps it: it may be one of those that patchelf adds for its tables. Larger
/// ones are read by position when asked for.
pub(super) const MAX_ANNOUNCED_BYTES: u64 = 4 << 20;
/// Bytes of the name of the program interpreter, its zero included (limits.h, `PATH_MAX`); what
/// follows is not read.
pub(super) const MAX_INTERPRETER_BYTES: u64 = 4 << 10;
/// Bytes of one segment of notes; what follows is not read. Notes of libraries have a few hundred
/// bytes.
pub(super) const MAX_NOTES_BYTES: u64 = 1 << 20;
/// Maximum reads of each byte of a string table on average; small tables get
/// [`MAX_MORE_NAME_BYTES`] more. Names that share their ends with others are together longer than
/// their table, but hardly as linkers write them.
pub(super) const MAX_NAME_READS: usize = 8;
/// See [`MAX_NAME_READS`].
pub(super) const MAX_MORE_NAME_BYTES: usize = 1 << 20;
/// Dynamic symbols that are counted; more count as so many. Their table meets [`MAX_TABLE_BYTES`]
/// before, at 11 million of 64-bit files; this one bounds the time of counting.
pub(super) const MAX_SYMBOLS: u64 = 1 << 28;
/// Symbols that are compared in one chain of the GNU hash table. Linkers make about as many chains
/// as symbols, so that a chain has a handful.
pub(super) const MAX_HASH_LINKS: u32 = 1 << 16;
/// Libraries of which symbol versions are needed; more are not read. Files need a few dozen.
pub(super) const MAX_VERSION_LIBRARIES: u64 = 65_535;
/// Symbol versions that are needed of all libraries together. libtorch needs fewer than a hundred.
pub(super) const MAX_NEEDED_VERSIONS: u32 = 100_000;
/// Libraries of which symbol versions are needed, and symbol versions, that an edit keeps apart
/// from what it overwrites; those after so many are not looked at. It bounds the time that an edit
/// takes, as all of them are compared with all that is overwritten.
pub(super) const MAX_GUARDED_VERSIONS: u64 = 1 << 14;
/// Bytes of zeros that an edit may add before what it appends. Programs whose memory is so much
/// larger than their file are refused: old kernels look for program headers at the same distance
/// from the first segment in both.
pub(super) const MAX_EDIT_PADDING_BYTES: u64 = 1 << 30;
/// Bytes behind the end of a file that stripping may lose: padding to a page. More may be another
/// file, such as an archive.
pub(super) const MAX_STRIP_PADDING_BYTES: u64 = 4 << 10;

#[cfg(test)]
mod tests {
    use std::io;
    use std::ops::Range;
    use std::sync::Mutex;

    use super::super::sample::{self, Pieces, Sample, library, program};
    use super::super::{Elf, ElfError, Strings, segment_flag, segment_type, tag};
    use super::*;
    use rock_bytes::ReadAt;

    /// Keeps the sizes of what is read and what is announced. What lies behind `end` cannot be
    /// read.
    struct Watched {
        source: Pieces,
        end: u64,
        reads: Mutex<Vec<usize>>,
        announced: Mutex<Vec<Range<u64>>>,
    }

    impl Watched {
        fn new(source: Pieces, end: u64) -> Self {
            Self {
                source,
                end,
                reads: Mutex::default(),
                announced: Mutex::default(),
            }
        }
    }

    impl ReadAt for Watched {
        fn size_bytes(&self) -> u64 {
            self.source.size_bytes()
        }

        fn will_read(&self, range: Range<u64>) {
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

    /// Numbers of 32 bits as a little-endian file has them.
    fn words(numbers: &[u64]) -> Vec<u8> {
        numbers
            .iter()
            .flat_map(|number| u32::try_from(*number).unwrap().to_le_bytes())
            .collect()
    }

    /// The program headers of each class that are just within the limit are read, and one more is
    /// refused.
    #[test]
    fn program_headers_up_to_the_limit_are_read() {
        for (sample, limit) in [(library(), 1170), (sample::all().remove(1), 2048)] {
            let read = |count: usize| {
                Elf::read(
                    &Sample {
                        unused_headers: count - 4,
                        ..sample.clone()
                    }
                    .build(),
                )
            };
            assert_eq!(read(limit).unwrap().segments().len(), limit);
            let expected = format!(
                "it has {} program headers, more than any loader takes",
                limit + 1
            );
            assert_eq!(message(read(limit + 1)), expected);
        }
    }

    /// A dynamic table as large as the limit is read, and one that is a byte larger is refused.
    #[test]
    fn a_dynamic_table_up_to_the_limit_is_read() {
        let source = Sample {
            fat: 17 << 20,
            ..library()
        }
        .build();
        let blank = source.blank();
        let read = |size: u64| {
            let change = |segment: &mut super::super::Segment| {
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

    /// Names where a library has zeros, with what is read of them. Behind the end nothing can be
    /// read.
    fn names(size: u64, has_end: bool) -> (Result<Strings, ElfError>, Vec<usize>) {
        let source = Sample {
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
        let watched = Watched::new(source, if has_end { blank } else { u64::MAX });
        let strings = elf.strings(&watched);
        (strings, watched.reads.into_inner().unwrap())
    }

    /// Reading a table as large as the limit is begun; one that is a byte larger is refused before
    /// anything is read.
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

    /// A table of one step is read at once, and a byte more takes another step.
    #[test]
    fn memory_for_a_table_grows_in_steps() {
        let step = MAX_READ_STEP_BYTES as u64;
        assert_eq!(names(step, false).1, [MAX_READ_STEP_BYTES]);
        assert_eq!(names(step + 1, false).1, [MAX_READ_STEP_BYTES, 1]);
    }

    /// A segment as large as the limit is announced, and one that is a byte larger is not.
    #[test]
    fn segments_up_to_the_limit_are_announced() {
        let is_announced = |size: u64| {
            let source = Sample {
                fat: 5 << 20,
                ..library()
            }
            .build()
            .with_segments(|segment| {
                if segment.is_load() && segment.flags & segment_flag::EXECUTE != 0 {
                    segment.file_size = size;
                }
            });
            let watched = Watched::new(source, u64::MAX);
            Elf::read(&watched).unwrap();
            watched.announced.into_inner().unwrap().contains(&(0..size))
        };
        assert!(is_announced(MAX_ANNOUNCED_BYTES) && !is_announced(MAX_ANNOUNCED_BYTES + 1));
    }

    /// The name of an interpreter is read as a whole up to the limit, and is cut off there.
    #[test]
    fn the_name_of_an_interpreter_is_read_up_to_the_limit() {
        let source = Sample {
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
        let source = Sample {
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
            let strings = Strings::new(table);
            let reads = std::iter::repeat_with(|| strings.text(0))
                .take_while(Result::is_ok)
                .count();
            assert_eq!(
                message(strings.text(0)),
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

    /// More symbols than the limit count as so many by `.hash`.
    #[test]
    fn symbols_are_counted_up_to_the_limit() {
        let source = library().build();
        let hash = Elf::read(&source).unwrap().value(tag::HASH).unwrap();
        let count = |symbols: u64| {
            let source = source.clone().with(hash + 4, words(&[symbols]));
            Elf::read(&source).unwrap().symbol_count(&source).unwrap()
        };
        assert_eq!(
            [MAX_SYMBOLS - 1, MAX_SYMBOLS, MAX_SYMBOLS + 1].map(count),
            [MAX_SYMBOLS - 1, MAX_SYMBOLS, MAX_SYMBOLS]
        );
    }

    /// A library whose `DT_GNU_HASH` leads to a table of one bucket, with these words behind its
    /// head and bloom filter.
    fn with_gnu_hash(fat: u64, first: u64, bucket: u64) -> (Pieces, u64) {
        let source = Sample { fat, ..library() }.build();
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

    /// The last chain of a GNU hash table ends within the limit, or there is no end.
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

    /// A chain with as many links as the limit is walked to its end, and one with another link is
    /// refused.
    #[test]
    fn chains_up_to_the_limit_are_walked() {
        let names = ["PyInit_demo".to_owned()];
        let find = |links: u32| {
            let (source, chains) = with_gnu_hash(u64::from(MAX_HASH_LINKS + 100) * 4, 1, 1);
            let bytes = sample::bytes(&source.with(chains + u64::from(links - 1) * 4, words(&[1])));
            let elf = Elf::read(&bytes).unwrap();
            elf.defined_function(&bytes, &elf.strings(&bytes).unwrap(), &names)
                .map(|found| found.is_some())
        };
        assert!(!find(MAX_HASH_LINKS).unwrap());
        assert_eq!(
            message(find(MAX_HASH_LINKS + 1)),
            "a chain of the GNU hash table has more than 65536 links"
        );
    }

    /// Returns the numbers of libraries and of their versions that a table of needed versions
    /// lists.
    fn version_needs(table: &[u8], count: u64) -> Result<[usize; 2], ElfError> {
        let source = Sample {
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
        let needs = elf.version_needs(&bytes, &elf.strings(&bytes).unwrap())?;
        Ok([
            needs.len(),
            needs.iter().map(|need| need.versions.len()).sum(),
        ])
    }

    /// Libraries of which versions are needed are read up to the limit.
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

    /// As many versions as the limit are read of all libraries together, and one more is refused.
    #[test]
    fn needed_versions_are_read_up_to_the_limit() {
        let needed = |versions: u32| {
            // Two libraries whose versions are the same list.
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
