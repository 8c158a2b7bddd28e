//! Tests of edits with samples of each class and byte order. `tests/it` edits and loads real files.

use std::collections::BTreeMap;

use super::super::limits::{MAX_EDIT_PADDING_BYTES, MAX_GUARDED_VERSIONS};
use super::super::sample::{self, ElfSample, HeaderPlacement, library, program};
use super::super::{
    DynamicEntry, Elf, ElfError, ElfPatch, PatchedFile, ProgramHeader, machine, section_type,
    segment_flag,
};
use super::super::{segment_type, tag, verify};
use super::{ElfEdits, SearchPathEdit, edit, marker, pinned_tables};
use rock_bytes::ReadAt;

/// Returns edits of all kinds, with strings that no sample contains.
fn edits() -> ElfEdits {
    ElfEdits {
        soname: Some("libsample-0123abcd.so".to_owned()),
        rename_needed: BTreeMap::from([(
            "libfoo.so.1".to_owned(),
            "libfoo-89abcdef.so.1".to_owned(),
        )]),
        rpath: SearchPathEdit::Rpath("$ORIGIN/../sample.libs".to_owned()),
        ..ElfEdits::default()
    }
}

fn rpath(text: &str) -> ElfEdits {
    ElfEdits {
        rpath: SearchPathEdit::Rpath(text.to_owned()),
        ..ElfEdits::default()
    }
}

fn texts(source: &dyn ReadAt, tag: u64) -> Vec<String> {
    let elf = Elf::read(source).unwrap();
    elf.dynamic_strings(&elf.string_table(source).unwrap(), tag)
        .unwrap()
}

fn loads(source: &dyn ReadAt) -> Vec<ProgramHeader> {
    Elf::read(source)
        .unwrap()
        .load_segments()
        .copied()
        .collect()
}

/// Asserts what holds for every edited file.
fn check(source: &dyn ReadAt, patch: &ElfPatch) {
    let patched = PatchedFile::new(source, patch);
    assert_eq!(verify(&patched), []);
    let (before, after) = (Elf::read(source).unwrap(), Elf::read(&patched).unwrap());
    assert_eq!(
        after.symbols(&patched).unwrap(),
        before.symbols(source).unwrap()
    );
    let names = |elf: &Elf, source: &dyn ReadAt| {
        let strings = elf.string_table(source).unwrap();
        let symbols = elf.symbols(source).unwrap();
        symbols
            .iter()
            .map(|symbol| strings.get(symbol.name.into()).unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&after, &patched), names(&before, source));
    let paths = [tag::RPATH, tag::RUNPATH].map(|tag| texts(&patched, tag).len());
    assert!(paths.iter().sum::<usize>() <= 1);
    let pages = [
        before.load_segments().next().unwrap(),
        after.load_segments().next().unwrap(),
    ]
    .map(|load| (load.address, load.flags));
    assert_eq!(pages[0], pages[1], "the first segment");

    // Loaded bytes did not move or change, except in the edited tables.
    let dynamic = before.segment(segment_type::DYNAMIC).unwrap();
    let table = before.header().segments_offset;
    let room = 8 * ProgramHeader::header_size(before.header().format.class) as u64;
    let versions = before
        .dynamic_value(tag::VERNEED)
        .and_then(|at| before.file_offset(at))
        .unwrap();
    for (offset, bytes) in patch
        .overwrites()
        .iter()
        .filter(|(offset, _)| *offset < before.loaded_end())
    {
        let end = offset + bytes.len() as u64;
        let within = |start: u64, length: u64| start <= *offset && end <= start + length;
        let allowed = within(0, 64)
            || within(
                table,
                (before.segments().len() * ProgramHeader::header_size(before.header().format.class))
                    as u64
                    + room,
            )
            || within(dynamic.offset, dynamic.file_size)
            || within(versions, 64)
            || before.header().sections_offset <= *offset
            || before
                .sections(source)
                .unwrap()
                .iter()
                .any(|one| one.kind == section_type::SYMTAB && within(one.offset, one.size));
        assert!(allowed, "{} bytes at {offset:#x}", bytes.len());
    }
    let (at, tail) = patch.tail();
    assert!(at >= source.size_bytes() || tail.is_empty());
}

/// Applies [`edits`] to a sample, then two more edits to the result.
fn full(sample: &ElfSample) {
    let source = sample.build();
    assert_eq!(verify(&source), [], "{sample:?}");
    let patch = edit(&source, &edits()).unwrap();
    check(&source, &patch);
    let once = PatchedFile::new(&source, &patch);
    assert_eq!(
        texts(&once, tag::NEEDED),
        ["libc.so.6", "libfoo-89abcdef.so.1"]
    );
    assert_eq!(texts(&once, tag::SONAME), ["libsample-0123abcd.so"]);
    assert_eq!(
        (texts(&once, tag::RPATH), texts(&once, tag::RUNPATH)),
        (vec!["$ORIGIN/../sample.libs".to_owned()], vec![])
    );
    let elf = Elf::read(&once).unwrap();
    let needs = elf
        .version_needs(&once, &elf.string_table(&once).unwrap())
        .unwrap();
    let needs: Vec<_> = needs
        .iter()
        .map(|need| (need.library.as_str(), need.versions[0].as_str()))
        .collect();
    assert_eq!(
        needs,
        [
            ("libfoo-89abcdef.so.1", "FOO_1"),
            ("libc.so.6", "GLIBC_2.17")
        ]
    );
    assert!(
        once.size_bytes() - source.size_bytes() < (64 << 10) + 2 * sample.page + 0x20_0000,
        "{sample:?}"
    );
    if sample.has_sections {
        let sections = elf.sections(&once).unwrap();
        let place = |name: &str| {
            sections
                .iter()
                .find(|section| section.name == name)
                .map(|one| (one.address, one.size))
        };
        assert_eq!(
            place(".dynstr"),
            elf.dynamic_value(tag::STRTAB)
                .zip(elf.dynamic_value(tag::STRSZ))
        );
        let dynamic = elf.segment(segment_type::DYNAMIC).unwrap();
        assert_eq!(
            place(".dynamic"),
            Some((dynamic.address, dynamic.file_size))
        );
    }

    assert!(
        edit(&once, &edits()).unwrap().is_empty(),
        "the second time, nothing is left to do"
    );
    let more = ElfEdits {
        soname: Some("libz.so".to_owned()),
        ..rpath("$ORIGIN:$ORIGIN/../another.libs")
    };
    let patch = edit(&once, &more).unwrap();
    check(&once, &patch);
    let twice = PatchedFile::new(&once, &patch);
    assert_eq!(
        texts(&twice, tag::RPATH),
        ["$ORIGIN:$ORIGIN/../another.libs"]
    );
    assert_eq!(
        loads(&twice).len(),
        loads(&once).len(),
        "the segment that was added grows"
    );
    assert!(twice.size_bytes() - once.size_bytes() < 100);
}

#[test]
fn every_class_and_byte_order_is_edited() {
    for sample in sample::all() {
        full(&sample);
        full(&ElfSample {
            has_sections: false,
            ..sample.clone()
        });
        full(&ElfSample {
            is_program: true,
            numbers: vec![(tag::DEBUG, 0)],
            ..sample.clone()
        });
        full(&ElfSample {
            is_program: true,
            kind: 2,
            base: 0x40_0000,
            ..sample.clone()
        });
    }
}

#[test]
fn dynamic_entries_find_room_wherever_there_is_some() {
    for sample in sample::all() {
        for (nulls, numbers) in [
            (2, vec![]),
            (1, vec![(tag::DEBUG, 0)]),
            (1, vec![(tag::RELACOUNT, 3)]),
            (1, vec![]),
        ] {
            full(&ElfSample {
                nulls,
                numbers: numbers.clone(),
                ..sample.clone()
            });
            full(&ElfSample {
                nulls,
                numbers,
                is_program: true,
                ..sample.clone()
            });
        }
    }
}

#[test]
fn program_headers_at_the_end_are_edited_with_and_without_room() {
    for sample in sample::all() {
        for (spare, gap) in [(0, 0), (0, 0x20_0000), (1, 0), (3, 0x20_0000)] {
            for nulls in [1, 5] {
                let sample = ElfSample {
                    headers: HeaderPlacement::AtEnd { spare, gap },
                    nulls,
                    ..sample.clone()
                };
                full(&sample);
                full(&ElfSample {
                    has_sections: false,
                    ..sample.clone()
                });
                full(&ElfSample {
                    is_program: true,
                    ..sample
                });
            }
        }
    }
}

#[test]
fn a_text_that_is_there_costs_no_byte() {
    let source = ElfSample {
        texts: vec![
            (tag::SONAME, "libsample.so"),
            (tag::RUNPATH, "/opt:$ORIGIN"),
        ],
        ..library()
    }
    .build();
    let patch = edit(&source, &rpath("$ORIGIN")).unwrap();
    check(&source, &patch);
    assert!(patch.tail().1.is_empty());
    let patched = PatchedFile::new(&source, &patch);
    assert_eq!(
        (texts(&patched, tag::RPATH), texts(&patched, tag::RUNPATH)),
        (vec!["$ORIGIN".to_owned()], vec![])
    );

    let kind_only = edit(&source, &rpath("/opt:$ORIGIN")).unwrap();
    assert_eq!(
        kind_only
            .overwrites()
            .iter()
            .map(|(_, bytes)| bytes.len())
            .sum::<usize>(),
        1,
        "one byte of the tag"
    );

    // `sample` is the end of `lib_of_sample`, and the name of a symbol.
    let edits = ElfEdits {
        soname: Some("sample".to_owned()),
        ..ElfEdits::default()
    };
    let patch = edit(&source, &edits).unwrap();
    check(&source, &patch);
    assert!(patch.tail().1.is_empty());
}

#[test]
fn both_search_paths_become_one_or_none() {
    let both = vec![
        (tag::RUNPATH, "/a"),
        (tag::RPATH, "/b"),
        (tag::SONAME, "libsample.so"),
    ];
    let source = ElfSample {
        texts: both,
        ..library()
    }
    .build();
    for (wanted, expected) in [
        (SearchPathEdit::Rpath("/a".to_owned()), ["/a", ""]),
        (SearchPathEdit::Runpath("/b".to_owned()), ["", "/b"]),
        (SearchPathEdit::Rpath("/c".to_owned()), ["/c", ""]),
        (SearchPathEdit::Remove, ["", ""]),
        (SearchPathEdit::Keep, ["/b", "/a"]),
    ] {
        let patch = edit(
            &source,
            &ElfEdits {
                rpath: wanted,
                ..ElfEdits::default()
            },
        )
        .unwrap();
        let patched = PatchedFile::new(&source, &patch);
        assert_eq!(
            [tag::RPATH, tag::RUNPATH].map(|tag| texts(&patched, tag).join(" ")),
            expected
        );
        assert_eq!(texts(&patched, tag::SONAME), ["libsample.so"]);
        assert_eq!(verify(&patched), []);
    }
    let clear = ElfEdits {
        rpath: SearchPathEdit::Remove,
        ..ElfEdits::default()
    };
    assert!(
        edit(&library().build(), &clear).unwrap().is_empty(),
        "none to clear"
    );
}

#[test]
fn entries_that_are_removed_leave_no_hole() {
    let source = ElfSample {
        needed: vec!["libc.so.6", "libpython3.12.so.1.0", "libfoo.so.1"],
        ..library()
    }
    .build();
    let edits = ElfEdits {
        remove_needed: ["libpython3.12.so.1.0".to_owned()].into(),
        ..ElfEdits::default()
    };
    let patch = edit(&source, &edits).unwrap();
    check(&source, &patch);
    let patched = PatchedFile::new(&source, &patch);
    assert_eq!(texts(&patched, tag::NEEDED), ["libc.so.6", "libfoo.so.1"]);
    let (before, after) = (Elf::read(&source).unwrap(), Elf::read(&patched).unwrap());
    assert_eq!(
        after.dynamic_entries().len() + 1,
        before.dynamic_entries().len()
    );
    assert_eq!(after.dynamic_entries()[2..], before.dynamic_entries()[3..]);
    assert!(patch.tail().1.is_empty());
}

#[test]
fn an_entry_that_is_removed_makes_room_for_another() {
    let needed = vec!["libc.so.6", "libpython3.12.so.1.0", "libfoo.so.1"];
    let source = ElfSample {
        needed,
        nulls: 1,
        texts: vec![],
        ..library()
    }
    .build();
    let edits = ElfEdits {
        remove_needed: ["libpython3.12.so.1.0".to_owned()].into(),
        ..rpath("$ORIGIN")
    };
    let patch = edit(&source, &edits).unwrap();
    check(&source, &patch);
    assert_eq!(
        loads(&PatchedFile::new(&source, &patch)).len(),
        3,
        "the dynamic table does not move"
    );
}

#[test]
fn the_entry_for_debuggers_stays_in_programs_and_goes_in_libraries() {
    let numbers = vec![(tag::DEBUG, 0), (tag::RELACOUNT, 7)];
    let library = ElfSample {
        numbers: numbers.clone(),
        nulls: 1,
        ..library()
    }
    .build();
    let program = ElfSample {
        numbers,
        nulls: 1,
        ..program()
    }
    .build();
    let has = |source: &dyn ReadAt| {
        let patch = edit(source, &rpath("$ORIGIN")).unwrap();
        check(source, &patch);
        let elf = Elf::read(&PatchedFile::new(source, &patch)).unwrap();
        [tag::DEBUG, tag::RELACOUNT].map(|tag| elf.dynamic_value(tag).is_some())
    };
    assert_eq!(has(&library), [false, true]);
    assert_eq!(has(&program), [true, false]);
}

#[test]
fn a_dynamic_table_without_room_moves_and_all_that_names_it_follows() {
    for sample in sample::all() {
        let source = ElfSample { nulls: 1, ..sample }.build();
        let patch = edit(&source, &rpath("$ORIGIN")).unwrap();
        check(&source, &patch);
        let patched = PatchedFile::new(&source, &patch);
        let elf = Elf::read(&patched).unwrap();
        let dynamic = elf.segment(segment_type::DYNAMIC).unwrap();
        let cover = elf
            .load_segments()
            .find(|load| load.file_offset(dynamic.address) == Some(dynamic.offset))
            .unwrap();
        assert_eq!(cover.flags, segment_flag::READ | segment_flag::WRITE);
        assert!(
            elf.dynamic_slots() > elf.dynamic_entries().len() as u64 + 3,
            "room for edits to come"
        );
        let sections = elf.sections(&patched).unwrap();
        let symtab = sections
            .iter()
            .find(|section| section.kind == section_type::SYMTAB)
            .unwrap();
        let mut bytes = vec![0; usize::try_from(symtab.size).unwrap()];
        patched.read_exact_at(&mut bytes, symtab.offset).unwrap();
        let size = super::super::ElfSymbol::entry_size(elf.header().format.class);
        let value = |index: usize| {
            super::super::ElfSymbol::parse(elf.header().format, &bytes[index * size..]).value
        };
        assert_eq!(value(2), dynamic.address, "_DYNAMIC");
        assert_ne!(
            value(1),
            dynamic.address,
            "a symbol with the same value and another name"
        );
    }
}

#[test]
fn unused_program_headers_and_zeros_behind_them_are_used_before_the_table_moves() {
    let at_start = |sample: &ElfSample| {
        let source = sample.build();
        let patch = edit(&source, &edits()).unwrap();
        check(&source, &patch);
        let elf = Elf::read(&PatchedFile::new(&source, &patch)).unwrap();
        elf.header().segments_offset == 64
    };
    assert!(!at_start(&library()));
    assert!(at_start(&ElfSample {
        unused_headers: 1,
        ..library()
    }));
    assert!(
        !at_start(&ElfSample {
            unused_headers: 1,
            nulls: 1,
            texts: vec![],
            ..library()
        }),
        "two are too many"
    );
    assert!(at_start(&ElfSample {
        unused_headers: 2,
        nulls: 1,
        texts: vec![],
        ..library()
    }));
    assert!(at_start(&ElfSample {
        unused_headers: 1,
        room: 56,
        nulls: 1,
        texts: vec![],
        ..library()
    }));
    assert!(at_start(&ElfSample {
        room: 56,
        ..library()
    }));
    assert!(!at_start(&ElfSample {
        room: 48,
        ..library()
    }));
    assert!(
        !at_start(&ElfSample {
            room: 56,
            has_sections: false,
            ..library()
        }),
        "nothing proves that they are free"
    );
    assert!(at_start(&ElfSample {
        room: 56,
        ..program()
    }));
}

#[test]
fn program_headers_of_programs_move_to_where_old_kernels_look_for_them() {
    for (kind, base) in [(3, 0), (2, 0x40_0000), (2, 0x1000)] {
        let source = ElfSample {
            kind,
            base,
            ..program()
        }
        .build();
        let patch = edit(&source, &rpath("$ORIGIN/a/long/way")).unwrap();
        check(&source, &patch);
        let elf = Elf::read(&PatchedFile::new(&source, &patch)).unwrap();
        let headers = elf.segment(segment_type::PHDR).unwrap();
        assert_eq!(headers.address - headers.offset, base);
        assert_eq!(headers.offset, elf.header().segments_offset);
        assert!(headers.offset > 64);
    }
}

#[test]
fn our_own_segment_is_marked_and_has_room_for_more_headers() {
    let source = ElfSample {
        has_sections: false,
        ..library()
    }
    .build();
    let patch = edit(&source, &rpath("$ORIGIN/one")).unwrap();
    let once = PatchedFile::new(&source, &patch);
    let elf = Elf::read(&once).unwrap();
    let capacity =
        marker::read_capacity(elf.header().format, &once, elf.header().segments_offset).unwrap();
    assert_eq!(
        capacity,
        Some(u32::try_from(elf.segments().len()).unwrap() + 4)
    );
    // Data after the segment keeps it from growing; the table still has space for one more header.
    let mut longer = sample::bytes(&once);
    longer.extend([1, 2, 3]);
    let patch = edit(&longer, &rpath("$ORIGIN/two")).unwrap();
    check(&longer, &patch);
    let twice = Elf::read(&PatchedFile::new(&longer, &patch)).unwrap();
    assert_eq!(twice.header().segments_offset, elf.header().segments_offset);
    assert_eq!(
        twice.load_segments().count(),
        elf.load_segments().count() + 1
    );
}

#[test]
fn a_library_of_5_gib_is_edited_without_being_held() {
    for headers in [
        HeaderPlacement::AtStart,
        HeaderPlacement::AtEnd { spare: 0, gap: 0 },
        HeaderPlacement::AtEnd {
            spare: 2,
            gap: 0x20_0000,
        },
    ] {
        for nulls in [1, 5] {
            let sample = ElfSample {
                fat: 5 << 30,
                headers,
                nulls,
                ..library()
            };
            full(&sample);
            let source = sample.build();
            let patch = edit(&source, &edits()).unwrap();
            assert!(source.size_bytes() > 5 << 30 && patch.tail().1.len() < 8192);
            let elf = Elf::read(&PatchedFile::new(&source, &patch)).unwrap();
            assert!(elf.segment(segment_type::DYNAMIC).unwrap().offset > 4 << 30);
        }
    }
}

fn refusal(source: &dyn ReadAt, edits: &ElfEdits) -> String {
    edit(source, edits).unwrap_err().to_string()
}

#[test]
fn what_would_need_guesses_is_refused() {
    let library_file = library().build();
    let empty = rpath("");
    assert_eq!(
        refusal(&library_file, &empty),
        "it cannot be edited: \"\" can be no name and no search path"
    );
    assert_eq!(
        refusal(&library_file, &rpath("a\0b")),
        "it cannot be edited: \"a\\0b\" can be no name and no search path"
    );
    let remove = ElfEdits {
        remove_needed: ["libfoo.so.1".to_owned()].into(),
        ..ElfEdits::default()
    };
    let expected =
        "it cannot be edited: it needs symbol versions of `libfoo.so.1`, which is to be removed";
    assert_eq!(refusal(&library_file, &remove), expected);
    let code = ElfSample {
        machine: machine::AMDGPU,
        ..library()
    }
    .build();
    assert_eq!(
        refusal(&code, &edits()),
        "it cannot be edited: it is a code object"
    );
    let far = ElfSample {
        base: 0xffff_0000,
        page: 0x8000,
        ..sample::all().remove(1)
    }
    .build();
    assert_eq!(
        refusal(&far, &edits()),
        "it cannot be edited: its addresses leave no room"
    );
    let mips = ElfSample {
        numbers: vec![(0x7000_0035, 4)],
        ..library()
    }
    .build();
    assert!(
        refusal(&mips, &edits())
            .ends_with("one of its dynamic entries tells a distance from itself")
    );

    let mut unordered = sample::bytes(&library_file);
    let table: Vec<u8> = unordered[64..64 + 2 * 56].to_vec();
    unordered[64..64 + 56].copy_from_slice(&table[56..]);
    unordered[64 + 56..64 + 2 * 56].copy_from_slice(&table[..56]);
    assert!(
        refusal(&unordered, &edits())
            .ends_with("its segments are not in the order of their addresses")
    );
}

#[test]
fn files_that_are_not_loaded_are_left_alone_or_refused() {
    let mut fixed = sample::bytes(&library().build());
    // Without the third program header there is no dynamic section.
    let at = 64 + 2 * 56;
    fixed[at..at + 4].fill(0);
    let nothing = ElfEdits {
        rpath: SearchPathEdit::Remove,
        ..ElfEdits::default()
    };
    assert!(edit(&fixed, &nothing).unwrap().is_empty());
    let refused = edit(&fixed, &rpath("$ORIGIN")).unwrap_err();
    assert!(matches!(refused, ElfError::NotEditable { .. }), "{refused}");
    assert!(matches!(
        edit(&b"#!/bin/sh\n".to_vec(), &nothing),
        Err(ElfError::NotElf)
    ));
}

#[test]
fn a_damaged_file_is_refused_or_edited_but_never_a_panic() {
    for sample in [
        library(),
        ElfSample {
            headers: HeaderPlacement::AtEnd { spare: 1, gap: 0 },
            nulls: 1,
            ..library()
        },
        program(),
    ] {
        let whole = sample::bytes(&sample.build());
        for at in 0..whole.len() {
            for value in [1, 0xff] {
                let mut bytes = whole.clone();
                bytes[at] = value;
                if let Ok(patch) = edit(&bytes, &edits()) {
                    assert!(patch.tail().1.len() < 0x1_0000, "{at:#x}");
                    let faults = verify(&bytes);
                    let after = verify(&PatchedFile::new(&bytes, &patch));
                    assert!(
                        after.iter().all(|fault| faults.contains(fault)),
                        "{at:#x}: {after:?}"
                    );
                }
            }
        }
        for length in 0..whole.len() {
            let _ = edit(&whole[..length].to_vec(), &edits());
        }
    }
}

#[test]
fn entries_beyond_the_end_of_the_table_are_cleared() {
    let source = library().build();
    let elf = Elf::read(&source).unwrap();
    let mut bytes = sample::bytes(&source);
    let end = usize::try_from(elf.segment(segment_type::DYNAMIC).unwrap().offset).unwrap()
        + elf.dynamic_entries().len() * 16;
    bytes[end + 16] = 0x77;
    let patch = edit(&bytes, &rpath("$ORIGIN")).unwrap();
    let edited = Elf::read(&PatchedFile::new(&bytes, &patch)).unwrap();
    assert_eq!(
        edited.dynamic_entries().len(),
        elf.dynamic_entries().len() + 1
    );
    assert_eq!(
        edited
            .dynamic_entries()
            .last()
            .map(|entry: &DynamicEntry| entry.tag),
        Some(tag::RPATH)
    );
}

#[test]
fn a_table_over_the_program_headers_is_not_overwritten_with_them() {
    let source = ElfSample {
        unused_headers: 2,
        ..library()
    }
    .build();
    let bytes = sample::bytes(&source);
    let elf = Elf::read(&source).unwrap();
    let format = elf.header().format;
    let dynamic = usize::try_from(elf.segment(segment_type::DYNAMIC).unwrap().offset).unwrap();
    // Two segments are used; the third one, of zeros, is overwritten.
    let unused = elf.header().segments_offset + 2 * 56;
    assert!(edit(&source, &rpath("$ORIGIN/of/no/text")).is_ok());
    for (tag, address) in [
        (tag::SYMTAB, unused - 47),
        (tag::SYMTAB, unused + 9),
        (tag::STRTAB, unused - 1),
        (tag::VERNEED, unused),
        (tag::VERSYM, unused + 40),
        (tag::HASH, unused - 7),
    ] {
        let mut bytes = bytes.clone();
        let entry = elf
            .dynamic_entries()
            .iter()
            .position(|entry| entry.tag == tag)
            .unwrap();
        format.put_word(&mut bytes, dynamic + entry * 16 + 8, address);
        let edits = ElfEdits {
            soname: Some("libsample-0123abcd.so".to_owned()),
            ..ElfEdits::default()
        };
        let message = edit(&bytes, &edits).unwrap_err().to_string();
        assert_eq!(
            message, "it cannot be edited: its tables overlap",
            "{tag:#x} at {address:#x}"
        );
    }
}

/// A program whose memory exceeds its file by one page more than the limit is refused.
#[test]
fn zeros_are_added_up_to_the_limit() {
    let page = program().page;
    let source = program().build();
    let size = source.size_bytes().next_multiple_of(page);
    let source = source.with(size - 1, vec![0]);
    let edited = |padding: u64| {
        let source = source.clone().with_segments(|segment| {
            if segment.is_load() && segment.flags & segment_flag::WRITE != 0 {
                segment.memory_size = size + padding - segment.address;
            }
        });
        edit(&source, &rpath("$ORIGIN/a/long/way")).map(|patch| patch.tail().0 - size)
    };
    assert_eq!(
        edited(MAX_EDIT_PADDING_BYTES).unwrap(),
        MAX_EDIT_PADDING_BYTES
    );
    let message = edited(MAX_EDIT_PADDING_BYTES + page)
        .unwrap_err()
        .to_string();
    assert_eq!(
        message,
        "it cannot be edited: 1073745920 bytes of zeros would have to be added"
    );
}

/// The last library and version within the limit are protected from overwrites; later ones are not.
#[test]
fn versions_are_guarded_up_to_the_limit() {
    let source = ElfSample {
        fat: 1 << 20,
        ..library()
    }
    .build();
    let blank = source.blank();
    let limit = usize::try_from(MAX_GUARDED_VERSIONS).unwrap();
    let number = |number: u16| number.to_le_bytes().to_vec();
    let library = [
        number(1),
        number(0),
        vec![0; 4],
        vec![16, 0, 0, 0, 16, 0, 0, 0],
    ]
    .concat();
    let many = number(u16::try_from(limit + 1).unwrap());
    let one = [number(1), many, vec![0; 4], vec![16, 0, 0, 0, 0, 0, 0, 0]].concat();
    let version = [vec![0; 12], vec![16, 0, 0, 0]].concat();
    for (table, last) in [
        (library.repeat(limit + 1), limit - 1),
        ([one, version.repeat(limit + 1)].concat(), limit),
    ] {
        let bytes =
            sample::bytes(&source.clone().with(blank, table).with_entries(
                |entry| match entry.tag {
                    tag::VERNEED => entry.value = blank,
                    tag::VERNEEDNUM => entry.value = u64::MAX,
                    _ => {}
                },
            ));
        let elf = Elf::read(&bytes).unwrap();
        let check = |entry: usize| {
            let mut patch = ElfPatch::unchanged(elf.size_bytes());
            patch.replace(blank + entry as u64 * 16, &[0], &[1]);
            pinned_tables::check_versions(&elf, &bytes, &patch)
        };
        assert_eq!(
            check(last).unwrap_err().to_string(),
            "it cannot be edited: its tables overlap"
        );
        assert!(check(last + 1).is_ok());
    }
}
