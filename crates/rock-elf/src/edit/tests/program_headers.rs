//! Program header growth.

use super::*;

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
fn unused_program_headers_and_zeros_behind_them_are_used_before_the_table_moves() {
    let at_start = |sample: &ElfSample| {
        let source = sample.build();
        let patch = edited(&source, &edits());
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
        let patch = edited(&source, &rpath("$ORIGIN/a/long/way"));
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
    let patch = edited(&longer, &rpath("$ORIGIN/two"));
    let twice = Elf::read(&PatchedFile::new(&longer, &patch)).unwrap();
    assert_eq!(twice.header().segments_offset, elf.header().segments_offset);
    assert_eq!(
        twice.load_segments().count(),
        elf.load_segments().count() + 1
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
        let edits = soname("libsample-0123abcd.so");
        let message = edit(&bytes, &edits).unwrap_err().to_string();
        assert_eq!(
            message, "it cannot be edited: its tables overlap",
            "{tag:#x} at {address:#x}"
        );
    }
}
