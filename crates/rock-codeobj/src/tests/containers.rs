//! Bundles, CCOBs and bare code objects in libraries and files.

use super::*;

#[test]
fn bundles_one_after_another_are_counted_with_their_wrappers() {
    let parts = [
        hip_bundle(&TWO, 640),
        hip_bundle(&[("gfx90a:xnack+", 0x73f)], 64),
        hip_bundle(&TWO, 200),
    ];
    let inventory = scan(&fatbin(concatenated(&parts, 4096), 3));
    assert_eq!(
        summary(&inventory),
        [
            ".hip_fatbin bundle at 0x100: gfx942/5 gfx1100/5",
            ".hip_fatbin bundle at 0x1100: gfx90a:xnack+/5",
            ".hip_fatbin bundle at 0x2100: gfx942/5 gfx1100/5",
        ]
    );
    assert_eq!(
        (
            inventory.wrappers,
            inventory.fatbin_bundles(),
            inventory.has_wrapper_mismatch()
        ),
        (3, 3, false)
    );
    let totals = inventory.targets();
    let totals: Vec<String> = totals
        .iter()
        .map(|(t, total)| format!("{t} {} {}", total.objects, total.bytes))
        .collect();
    assert_eq!(
        totals,
        ["gfx90a:xnack+ 1 64", "gfx942 2 840", "gfx1100 2 840"]
    );
    assert_eq!(
        inventory
            .code_object_versions()
            .into_iter()
            .collect::<Vec<_>>(),
        [5]
    );
}

#[test]
fn every_version_and_method_of_compressed_bundles_is_unpacked() {
    for version in 1..=3 {
        for method in 0..=1 {
            let one = compressed(&hip_bundle(&TWO, 300_000), version, method);
            let other = compressed(&hip_bundle(&[("gfx1201", 0x4e)], 64), version, method);
            for align in [1, 4096] {
                let bytes = fatbin(concatenated(&[one.clone(), other.clone()], align), 2);
                let inventory = scan(&bytes);
                let second = 0x100 + one.len().next_multiple_of(align);
                let expect = [
                    format!(".hip_fatbin ccob{version} at 0x100: gfx942/5 gfx1100/5"),
                    format!(".hip_fatbin ccob{version} at {second:#x}: gfx1201/5"),
                ];
                assert_eq!(summary(&inventory), expect, "method {method}");
                assert_eq!(inventory.packed_bytes(), (one.len() + other.len()) as u64);
                assert!(inventory.raw_bytes() > 600_000 && !inventory.has_wrapper_mismatch());
                let tables = scan_with(&bytes, &layout(&bytes), ScanDepth::Tables, 4096);
                let expect = expect.map(|line| line.replace("/5", ""));
                assert_eq!(summary(&tables), expect, "tables only, method {method}");
            }
        }
    }
}

#[test]
fn wrappers_and_bundles_that_differ_are_reported() {
    let inventory = scan(&fatbin(hip_bundle(&TWO, 64), 2));
    assert!(inventory.has_wrapper_mismatch() && inventory.wrappers == 2);
    // Text in another section, or between records, is not a wrapper.
    let shifted = [vec![0; 8], wrappers(1, *b"FPIH"), vec![0; 16]].concat();
    let parts = [
        part(".rodata", wrappers(3, *b"FPIH")),
        part(".hipFatBinSegment", shifted),
        part(".hip_fatbin", hip_bundle(&TWO, 64)),
    ];
    assert_eq!(scan(&library(&parts)).wrappers, 0);
    let kpack = scan(&library(&[part(
        ".hipFatBinSegment",
        wrappers(4, *b"HIPK"),
    )]));
    assert_eq!(
        (
            kpack.wrappers,
            kpack.kpack_wrappers,
            kpack.has_wrapper_mismatch()
        ),
        (0, 4, false)
    );
}

#[test]
fn code_in_other_loaded_sections_is_embedded() {
    let parts = [
        part(".rodata", [vec![1; 77], hip_bundle(&TWO, 64)].concat()),
        part(
            ".data",
            [vec![2; 3], compressed(&hip_bundle(&TWO, 64), 3, 1)].concat(),
        ),
        part(
            ".lrodata",
            [vec![3; 5], code_object(0x0100_0054, 4, 640), vec![9; 99]].concat(),
        ),
    ];
    let inventory = scan(&library(&parts));
    let lines = summary(&inventory);
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(
        lines[0].starts_with("embedded bundle at 0xcd: gfx942/5 gfx1100/5"),
        "{lines:?}"
    );
    assert!(lines[1].starts_with("embedded ccob3 at"), "{lines:?}");
    assert!(
        lines[2].starts_with("embedded elf at") && lines[2].ends_with("gfx11-generic/6"),
        "{lines:?}"
    );
    assert_eq!(
        inventory.containers[1].location,
        CodeLocation::Embedded(".data".to_owned())
    );
    assert_eq!(
        inventory.containers[2].entries[0]
            .object
            .as_ref()
            .unwrap()
            .generic_version,
        Some(1)
    );
    assert_eq!(
        (inventory.fatbin, inventory.has_wrapper_mismatch()),
        (None, false)
    );
}

#[test]
fn what_is_not_loaded_does_not_count() {
    let unloaded = |name, content| Part {
        is_alloc: false,
        ..part(name, content)
    };
    check(
        &library(&[unloaded(".debug_str", hip_bundle(&TWO, 64))]),
        &[],
    );
    let nobits = Part {
        is_nobits: true,
        ..part(".hip_fatbin", vec![0; 4096])
    };
    let inventory = scan(&library(&[part(".text", vec![0x90; 99]), nobits]));
    assert!(inventory.is_empty(), "{inventory:?}");
}

#[test]
fn a_library_without_section_headers_is_read_by_its_segments() {
    let mut bytes = rodata(hip_bundle(&TWO, 64));
    bytes[40..48].fill(0);
    bytes[60..64].fill(0);
    check(&bytes, &["embedded bundle at 0x80: gfx942/5 gfx1100/5"]);
}

#[test]
fn a_file_may_be_code_as_a_whole() {
    check(
        &code_object(0xe3f, 3, 4096),
        &["file elf at 0x0: gfx90a:sramecc+:xnack-/5"],
    );
    check(
        &hip_bundle(&TWO, 64),
        &["file bundle at 0x0: gfx942/5 gfx1100/5"],
    );
    check(
        &compressed(&hip_bundle(&TWO, 64), 2, 1),
        &["file ccob2 at 0x0: gfx942/5 gfx1100/5"],
    );
    let inside = [code_object(0x4c, 3, 64 * 3), hip_bundle(&TWO, 64)].concat();
    check(&inside, &["file elf at 0x0: gfx942/5"]);
    check(
        &[b"!<arch>\n".to_vec(), code_object(0x4c, 3, 640)].concat(),
        &["embedded elf at 0x8: gfx942/5"],
    );
    check(b"print('hello')", &[]);
}

#[test]
fn windows_libraries_are_read_by_their_own_names() {
    let parts = [
        part(".text", vec![0x90; 700]),
        part(
            ".hip_fat",
            concatenated(&[hip_bundle(&TWO, 64), hip_bundle(&TWO, 64)], 4096),
        ),
        part(".hipFatB", wrappers(2, *b"FPIH")),
        part(".kpackrf", vec![0x80]),
    ];
    let bytes = pe_library(&parts);
    let inventory = scan(&bytes);
    let bundle = "bundle at 0x600: gfx942/5 gfx1100/5";
    assert_eq!(summary(&inventory)[0], format!(".hip_fat {bundle}"));
    assert_eq!((inventory.wrappers, inventory.fatbin_bundles()), (2, 2));
    assert_eq!(
        layout(&bytes)
            .kpack_reference()
            .map(|stretch| stretch.size_bytes),
        Some(1)
    );
    for length in 0..bytes.len().min(512) {
        assert!(
            FileLayout::from_pe(&bytes[..length].to_vec())
                .is_none_or(|layout| layout.sections.len() == 4),
            "{length}"
        );
    }
}

#[test]
fn empty_bundles_and_false_ids_are_facts() {
    let empty = bundle(
        &[
            ("host-x86_64-unknown-linux--", Vec::new()),
            (&id("gfx942"), Vec::new()),
        ],
        8,
    );
    let inventory = scan(&fatbin(empty, 1));
    assert_eq!(
        inventory
            .empty_bundles()
            .map(|bundle| bundle.offset)
            .collect::<Vec<_>>(),
        [0x100]
    );
    assert!(inventory.targets().is_empty() && inventory.damages.is_empty());

    let inventory = scan(&fatbin(
        hip_bundle(&[("gfx942", 0x4c), ("gfx90a:xnack-", 0x33f)], 64),
        1,
    ));
    let [mismatch] = &inventory.mismatches()[..] else {
        panic!("{inventory:?}")
    };
    assert_eq!(
        format!("{} {}", mismatch.id_target, mismatch.header_target),
        "gfx90a:xnack- gfx90a:xnack+"
    );
    assert_eq!(
        (mismatch.bundle_offset, mismatch.entry_offset),
        (0x100, 0x140)
    );
}

#[test]
fn a_scan_that_found_nothing_needs_no_further_bytes() {
    let fed = |bytes: &[u8]| {
        let mut scanner = CodeScanner::new(ScanDepth::Headers);
        bytes.chunks(1000).for_each(|piece| scanner.feed(piece));
        scanner.has_candidates()
    };
    assert!(!fed(&library(&[part(".text", vec![0x90; 10_000])])));
    assert!(fed(&fatbin(hip_bundle(&TWO, 64), 0)));
    assert!(
        fed(&hip_bundle(&TWO, 64)[..60]),
        "what begins within the last bytes counts"
    );
    assert!(fed(&library(&[part(
        ".hipFatBinSegment",
        wrappers(1, *b"HIPK")
    )])));
}

#[test]
fn a_union_adds_files_up() {
    let mut union = InventoryTotals::default();
    union.add(&scan(&fatbin(hip_bundle(&TWO, 64), 1)));
    union.add(&scan(&fatbin(
        compressed(&hip_bundle(&[("gfx1100", 0x41)], 100), 3, 1),
        1,
    )));
    union.add(&scan(b"text"));
    union.count_source(super::super::SourceKind::Bitcode);
    let kinds: Vec<String> = union.kinds.iter().map(ToString::to_string).collect();
    let targets: Vec<String> = union
        .targets
        .iter()
        .map(|(t, sum)| format!("{t} {} {}", sum.objects, sum.bytes))
        .collect();
    assert_eq!((union.files, union.bundles, union.wrappers), (2, 2, 2));
    assert_eq!(
        (kinds, targets),
        (
            vec!["bundle".to_owned(), "ccob3".to_owned()],
            vec!["gfx942 1 64".to_owned(), "gfx1100 2 164".to_owned()]
        )
    );
}
