//! Files and edits that are refused.

use super::*;

fn refusal(source: &dyn ReadAt, edits: &ElfEdits) -> String {
    edit(source, edits).unwrap_err().to_string()
}

#[test]
fn what_would_need_guesses_is_refused() {
    let library_file = library().build();
    let empty = rpath("");
    assert_eq!(
        refusal(&library_file, &empty),
        "it cannot be edited: \"\" is not a valid name or search path"
    );
    assert_eq!(
        refusal(&library_file, &rpath("a\0b")),
        "it cannot be edited: \"a\\0b\" is not a valid name or search path"
    );
    let remove = ElfEdits {
        remove_needed: ["libfoo.so.1".to_owned()].into(),
        ..ElfEdits::default()
    };
    let expected =
        "it cannot be edited: it needs symbol versions of `libfoo.so.1`, which would be removed";
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
            .ends_with("one of its dynamic entries is an offset from its own address")
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
    let nothing = no_search_path();
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
