//! Edits of dynamic entries and their strings.

use super::*;

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
fn a_text_that_is_there_costs_no_byte() {
    let source = ElfSample {
        texts: vec![
            (tag::SONAME, "libsample.so"),
            (tag::RUNPATH, "/opt:$ORIGIN"),
        ],
        ..library()
    }
    .build();
    let patch = edited(&source, &rpath("$ORIGIN"));
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
    let edits = soname("sample");
    let patch = edited(&source, &edits);
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
    let clear = no_search_path();
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
    let patch = edited(&source, &edits);
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
    let patch = edited(&source, &edits);
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
        let patch = edited(source, &rpath("$ORIGIN"));
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
        let patch = edited(&source, &rpath("$ORIGIN"));
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
        let size = super::super::super::ElfSymbol::entry_size(elf.header().format.class);
        let value = |index: usize| {
            super::super::super::ElfSymbol::parse(elf.header().format, &bytes[index * size..]).value
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
