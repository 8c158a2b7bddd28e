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

mod dynamic;
mod limits;
mod program_headers;
mod refusals;

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

fn no_search_path() -> ElfEdits {
    ElfEdits {
        rpath: SearchPathEdit::Remove,
        ..ElfEdits::default()
    }
}

fn soname(text: &str) -> ElfEdits {
    ElfEdits {
        soname: Some(text.to_owned()),
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

/// Applies edits, and checks the result.
fn edited(source: &dyn ReadAt, edits: &ElfEdits) -> ElfPatch {
    let patch = edit(source, edits).unwrap();
    check(source, &patch);
    patch
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
    let patch = edited(&source, &edits());
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
    let patch = edited(&once, &more);
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
