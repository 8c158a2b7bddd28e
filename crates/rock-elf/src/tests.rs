//! Tests with a real file and with truncated files.

use super::sample::{self, ElfSample};
use super::{Elf, ElfHeader, machine, segment_type, tag};

/// Reads the running test program.
#[expect(
    clippy::disallowed_methods,
    reason = "a real file, and `sys` is above this layer"
)]
fn own() -> Vec<u8> {
    std::fs::read(std::env::current_exe().unwrap()).unwrap()
}

#[test]
fn a_program_of_this_machine_lists_its_libraries_and_versions() {
    let bytes = own();
    let elf = Elf::read(&bytes).unwrap();
    let strings = elf.string_table(&bytes).unwrap();
    let needed = elf.dynamic_strings(&strings, tag::NEEDED).unwrap();
    assert!(
        needed.iter().any(|name| name.starts_with("libc.so")),
        "{needed:?}"
    );
    let needs = elf.version_needs(&bytes, &strings).unwrap();
    assert!(
        needs.iter().all(|need| needed.contains(&need.library)),
        "{needs:?}"
    );
    assert!(
        needs.iter().any(|need| need
            .versions
            .iter()
            .any(|version| version.starts_with("GLIBC_2."))),
        "{needs:?}"
    );
    assert!(
        elf.interpreter(&bytes)
            .unwrap()
            .is_some_and(|path| path.contains("ld"))
    );
    assert!(
        elf.sections(&bytes)
            .unwrap()
            .iter()
            .any(|section| section.name == ".dynsym" && section.is_alloc())
    );
    let symbols = elf.symbols(&bytes).unwrap();
    let name = |name: u32| strings.get(name.into()).unwrap();
    assert!(
        symbols
            .iter()
            .any(|symbol| symbol.is_undefined() && name(symbol.name) == "malloc")
    );
    assert!(elf.loaded_end() <= bytes.len() as u64);
    assert!(
        elf.segment(segment_type::DYNAMIC).is_some() && elf.header().machine != machine::AMDGPU
    );
}

#[test]
fn a_file_cut_off_anywhere_is_an_error_and_never_a_panic() {
    let bytes = own();
    let whole = Elf::read(&bytes).unwrap();
    let end = usize::try_from(whole.segment(segment_type::DYNAMIC).unwrap().file_end()).unwrap();
    for length in (0..2000).chain((2000..end).step_by(end / 200)) {
        let cut = bytes[..length].to_vec();
        assert!(
            Elf::read(&cut).is_err(),
            "{length} of {} bytes",
            bytes.len()
        );
    }
}

#[test]
fn a_header_that_means_nothing_is_refused() {
    let message = |bytes: &[u8]| ElfHeader::parse(bytes).unwrap_err().to_string();
    assert_eq!(message(b"MZ"), "it is not an ELF file");
    assert_eq!(
        message(b"\x7fELF"),
        "its header says class 0, which does not exist"
    );
    assert_eq!(
        message(b"\x7fELF\x02\x05"),
        "its header says byte order 5, which does not exist"
    );
    assert_eq!(
        message(b"\x7fELF\x02\x01"),
        "the file header at 0x0 is outside the file"
    );
}

/// Words of `.hash` have 4 bytes, or 8 if GNU ld made it for s390x. The section or the table itself
/// reveals which.
#[test]
fn hash_tables_of_s390x_have_words_of_either_size() {
    for sample in sample::all() {
        let sizes: &[usize] = if sample.machine == machine::S390 {
            &[4, 8]
        } else {
            &[4]
        };
        for (word, has_sections) in sizes
            .iter()
            .flat_map(|word| [(*word, true), (*word, false)])
        {
            let bytes = sample::bytes(
                &ElfSample {
                    hash_word: Some(word),
                    has_sections,
                    ..sample.clone()
                }
                .build(),
            );
            let elf = Elf::read(&bytes).unwrap();
            let counted = elf.symbol_count(&bytes).unwrap();
            assert_eq!(
                counted, 2,
                "machine {}, words of {word} bytes, sections: {has_sections}",
                sample.machine
            );
        }
    }
}

/// A table without buckets starts like one with 8-byte words: only the section reveals that its
/// words have 4.
#[test]
fn sh_entsize_decides_over_the_first_word() {
    let all = sample::all();
    let of_s390 = all.iter().filter(|sample| sample.machine == machine::S390);
    for sample in of_s390 {
        let with = |has_sections| {
            sample::bytes(
                &ElfSample {
                    has_sections,
                    hash_word: Some(4),
                    ..sample.clone()
                }
                .build(),
            )
        };
        let bytes = with(true);
        let sections = Elf::read(&bytes).unwrap().sections(&bytes).unwrap();
        let hash = sections
            .iter()
            .find(|section| section.name == ".hash")
            .unwrap();
        let first = usize::try_from(hash.offset).unwrap();
        let count = |mut bytes: Vec<u8>| {
            bytes[first..][..4].fill(0);
            Elf::read(&bytes).unwrap().symbol_count(&bytes).unwrap()
        };
        assert_eq!(count(bytes), 2);
        assert_ne!(
            count(with(false)),
            2,
            "without sections the first word decides"
        );
    }
}

/// The GNU hash table is preferred on s390x, unless it lists no symbol.
#[test]
fn gnu_hash_counts_the_symbols_of_s390x() {
    let built = |first: u32, bucket: u32| {
        let all = sample::all();
        let of_s390 = all
            .iter()
            .find(|sample| sample.machine == machine::S390)
            .unwrap();
        // The GNU hash table is in `.hip_fatbin`, and the number of symbols in `.hash` is wrong.
        let with = |numbers| {
            ElfSample {
                numbers,
                hash_word: Some(4),
                ..of_s390.clone()
            }
            .build()
        };
        let bytes = sample::bytes(&with(vec![(tag::GNU_HASH, 0)]));
        let sections = Elf::read(&bytes).unwrap().sections(&bytes).unwrap();
        let place = |name: &str| {
            sections
                .iter()
                .find(|section| section.name == name)
                .unwrap()
                .offset
        };
        let (table, hash) = (
            place(".hip_fatbin"),
            usize::try_from(place(".hash")).unwrap(),
        );
        let mut bytes = sample::bytes(&with(vec![(tag::GNU_HASH, table)]));
        let numbers = [1, first, 1, 0, 0, 0, bucket, 0, 1];
        let table = usize::try_from(table).unwrap();
        for (at, number) in numbers.into_iter().enumerate() {
            bytes[table + at * 4..][..4].copy_from_slice(&number.to_be_bytes());
        }
        bytes[hash + 4..][..4].copy_from_slice(&7_u32.to_be_bytes());
        bytes
    };
    let count = |bytes: Vec<u8>| Elf::read(&bytes).unwrap().symbol_count(&bytes).unwrap();
    assert_eq!(
        count(built(1, 1)),
        3,
        "the chain of the bucket ends at symbol 2"
    );
    assert_eq!(
        count(built(1, 0)),
        7,
        "there is no chain, so that `.hash` says it"
    );
}

/// GNU ld writes 1 as the first listed symbol if it lists none.
#[test]
fn symbols_that_no_hash_table_lists_are_counted() {
    for sample in sample::all() {
        for has_sections in [true, false] {
            let with = |numbers, has_sections| {
                sample::bytes(
                    &ElfSample {
                        has_sections,
                        numbers,
                        ..sample.clone()
                    }
                    .build(),
                )
            };
            let bytes = with(vec![(tag::GNU_HASH, 0)], true);
            let elf = Elf::read(&bytes).unwrap();
            let sections = elf.sections(&bytes).unwrap();
            let place = |name: &str| {
                sections
                    .iter()
                    .find(|section| section.name == name)
                    .unwrap()
            };
            // The GNU hash table is in `.hip_fatbin`: one bucket without a chain.
            let mut bytes = with(
                vec![(tag::GNU_HASH, place(".hip_fatbin").address)],
                has_sections,
            );
            let (format, table) = (
                elf.header().format,
                usize::try_from(place(".hip_fatbin").offset).unwrap(),
            );
            for (at, number) in [1, 1, 1, 0, 0, 0, 0].into_iter().enumerate() {
                format.put_u32(&mut bytes, table + at * 4, number);
            }
            assert_eq!(
                Elf::read(&bytes).unwrap().symbol_count(&bytes).unwrap(),
                2,
                "`.hash` says it"
            );
            let (from, size) = (place(".dynamic").offset, place(".dynamic").size);
            let dynamic = usize::try_from(from).unwrap()..usize::try_from(from + size).unwrap();
            let word = format.word_bytes();
            for without in [tag::HASH, tag::GNU_HASH] {
                let entry = dynamic
                    .clone()
                    .step_by(2 * word)
                    .find(|at| format.word(&bytes, *at) == without)
                    .unwrap();
                format.put_word(&mut bytes, entry, UNKNOWN_TAG);
                let counted = Elf::read(&bytes).unwrap().symbol_count(&bytes).unwrap();
                assert_eq!(
                    counted, 2,
                    "machine {}, sections: {has_sections}, without {without:#x}",
                    sample.machine
                );
            }
        }
    }
}

/// A tag without meaning (gABI, "Dynamic Section", `DT_LOOS`).
const UNKNOWN_TAG: u64 = 0x6000_0000;
