//! Libraries, bundles and baits that are made here, whole, cut off, and in pieces.

use proptest::prelude::*;

use super::limits::{
    MAX_BUNDLE_ENTRIES, MAX_CONTAINERS, MAX_ENTRIES, MAX_ID_BYTES, MAX_LOOKALIKES,
    MAX_OPEN_BUNDLES, MAX_UNPACKED_BYTES, MAX_WRAPPERS, MAX_ZSTD_WINDOW_LOG,
};
use super::{
    CodeInventory, CodeLocation, CodeScanner, FileLayout, InventoryTotals, ScanDepth, ScanLimit,
};
use rock_elf::Elf;
use rock_testkit::bundle::{
    Part, bundle, code_object, compressed, concatenated, hip_bundle, id, library, part, pe_library,
    wrappers,
};

fn layout(bytes: &[u8]) -> FileLayout {
    let bytes = bytes.to_vec();
    if FileLayout::is_pe(&bytes) {
        return FileLayout::from_pe(&bytes).unwrap();
    }
    let Ok(elf) = Elf::read(&bytes) else {
        return FileLayout::without_sections();
    };
    let sections = elf.sections(&bytes).unwrap_or_default();
    FileLayout::from_elf(&elf, &sections)
}

fn scan_with(bytes: &[u8], layout: &FileLayout, depth: ScanDepth, piece: usize) -> CodeInventory {
    let mut scanner = CodeScanner::new(depth);
    bytes.chunks(piece).for_each(|piece| scanner.feed(piece));
    scanner.finish(layout)
}

fn scan(bytes: &[u8]) -> CodeInventory {
    scan_with(bytes, &layout(bytes), ScanDepth::Headers, 256 << 10)
}

/// Renders containers, damages and limits, one per line.
fn summary(inventory: &CodeInventory) -> Vec<String> {
    let containers = inventory.containers.iter().map(|container| {
        let entry = |entry: &super::ContainerEntry| {
            let version = entry.object.as_ref().and_then(|object| object.version);
            format!(
                " {}{}",
                entry.target().unwrap(),
                version.map_or(String::new(), |version| format!("/{version}"))
            )
        };
        let entries: String = container.device_entries().map(entry).collect();
        format!(
            "{} {} at {:#x}:{entries}",
            container.location, container.kind, container.offset
        )
    });
    let damages = inventory
        .damages
        .iter()
        .map(|damage| format!("{:#x}: {}", damage.offset, damage.reason));
    containers
        .chain(damages)
        .chain(inventory.limits.iter().map(ScanLimit::to_string))
        .collect()
}

/// Builds a library with a section for bundles at 0x100, and up to five wrappers.
fn fatbin(content: Vec<u8>, wrapper_count: usize) -> Vec<u8> {
    let mut records = wrappers(wrapper_count, *b"FPIH");
    records.resize(128, 0);
    library(&[
        part(".hipFatBinSegment", records),
        part(".hip_fatbin", content),
    ])
}

/// Builds a bundle that needs many blocks when compressed.
fn noisy_bundle() -> Vec<u8> {
    let mut bytes = hip_bundle(&TWO, 300_000);
    let mut state = 1_u32;
    for byte in &mut bytes[400..300_000] {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        *byte = state.to_be_bytes()[0];
    }
    bytes
}

const TWO: [(&str, u32); 2] = [("gfx942", 0x54c), ("gfx1100", 0x41)];

fn check(bytes: &[u8], expect: &[&str]) {
    assert_eq!(summary(&scan(bytes)), expect);
}

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
fn wrappers_and_bundles_that_differ_are_told() {
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
    let told = summary(&inventory);
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(
        told[0].starts_with("embedded bundle at 0xcd: gfx942/5 gfx1100/5"),
        "{told:?}"
    );
    assert!(told[1].starts_with("embedded ccob3 at"), "{told:?}");
    assert!(
        told[2].starts_with("embedded elf at") && told[2].ends_with("gfx11-generic/6"),
        "{told:?}"
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
    let mut bytes = library(&[part(".rodata", hip_bundle(&TWO, 64))]);
    bytes[40..48].fill(0);
    bytes[60..64].fill(0);
    check(&bytes, &["embedded bundle at 0x80: gfx942/5 gfx1100/5"]);
}

#[test]
fn text_that_only_looks_like_code_is_no_code() {
    let magic = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
    let mut foreign_elf = code_object(0, 0, 64);
    foreign_elf[18] = 62;
    let many = [magic.clone(), u64::MAX.to_le_bytes().to_vec()].concat();
    let no_object = bundle(&[(&id("gfx942"), vec![7; 200])], 8);
    let outside = hip_bundle(&TWO, 64)[..300].to_vec();
    let foreign = bundle(
        &[
            ("sycl-spir64-unknown-unknown", vec![7; 200]),
            (&id("gfx942"), code_object(0x4c, 3, 64)),
        ],
        8,
    );
    let ccob = |head: &[u8]| [head, &[0x5a; 80]].concat();
    for bait in [
        magic.clone(),
        [magic.clone(), magic.clone(), b"\0%s: not a bundle".to_vec()].concat(),
        many,
        no_object,
        foreign_elf,
        ccob(b"CCOB"),
        ccob(b"CCOB\x02\0\x01\0\xff\xff\0\0\xff\xff\0\0"),
        ccob(b"CCOB\x03\0\x01\0"),
        ccob(b"CCOB\x02\0\x01\0\xff\xff\0\0\xff\xff\0\0hashhash\x28\xb5\x2f\xfd"),
        b"FPIH\x01\0\0\0 HIPK\x01\0\0\0".to_vec(),
    ] {
        let inventory = scan(&library(&[part(
            ".rodata",
            [vec![b'x'; 9], bait.clone(), vec![0; 100]].concat(),
        )]));
        assert!(
            inventory.is_empty(),
            "{:?} of {bait:x?}",
            summary(&inventory)
        );
        // A real bundle right after it is found all the same.
        let after = [bait.clone(), hip_bundle(&TWO, 64)].concat();
        let told = summary(&scan(&library(&[part(".rodata", after)])));
        assert!(
            told.len() == 1 && told[0].ends_with(": gfx942/5 gfx1100/5"),
            "{told:?} after {bait:x?}"
        );
    }
    // The code objects of an invalid bundle are containers of their own.
    for cut in [outside, foreign] {
        let told = summary(&scan(&library(&[part(
            ".rodata",
            [cut, vec![0; 99]].concat(),
        )])));
        assert!(
            told.len() == 1 && told[0].starts_with("embedded elf at"),
            "{told:?}"
        );
    }
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
fn damage_in_the_section_for_bundles_is_told() {
    let good = hip_bundle(&TWO, 64);
    check(
        &fatbin(vec![7; 5000], 1),
        &["0x100: `.hip_fatbin` does not begin with one"],
    );
    check(
        &fatbin(b"__CLANG_OFFLOAD_BUNDLE__\0\0\0\0\0\0\0\0".to_vec(), 1),
        &["0x100: its table claims 0 entries"],
    );
    let mut long = good.clone();
    long[48..56].copy_from_slice(&257_u64.to_le_bytes());
    let objects = [
        ".hip_fatbin elf at 0x200: gfx942/5",
        ".hip_fatbin elf at 0x240: gfx1100/5",
    ];
    check(
        &fatbin(long, 1),
        &[
            objects[0],
            objects[1],
            "0x100: entry 0 claims an id of 257 bytes",
        ],
    );
    let mut torn = compressed(&noisy_bundle(), 2, 1);
    let middle = torn.len() / 2;
    torn[middle..].fill(0xff);
    let told = summary(&scan(&fatbin(concatenated(&[torn, good.clone()], 8), 2)));
    assert_eq!(
        told[0], ".hip_fatbin ccob2 at 0x100: gfx942/5 gfx1100",
        "{told:?}"
    );
    assert!(
        told[1].contains("bundle at") && told[2].contains("damaged after"),
        "{told:?}"
    );
    let mut lies = compressed(&good, 3, 1);
    lies[16] ^= 1;
    let told = super::tests::summary(&scan(&fatbin(lies, 1)));
    assert!(
        told.iter().any(|line| line.contains("its header says")),
        "{told:?}"
    );
    check(
        &fatbin(b"CCOB\x04\0\x01\0".to_vec(), 1),
        &["0x100: its version 4 is not known"],
    );
}

#[test]
fn a_file_cut_off_anywhere_is_told_and_never_a_panic() {
    let bundles = [
        hip_bundle(&TWO, 64),
        compressed(&hip_bundle(&TWO, 64), 2, 0),
        compressed(&hip_bundle(&TWO, 64), 1, 1),
    ];
    for bytes in bundles {
        assert_eq!(scan(&bytes).damages, []);
        for length in 1..bytes.len() {
            let inventory = scan(&bytes[..length]);
            let is_told = !inventory.damages.is_empty() || inventory.is_empty();
            assert!(
                is_told,
                "{length} of {} bytes: {:?}",
                bytes.len(),
                summary(&inventory)
            );
            assert!(length < 64 || !inventory.is_empty(), "{length} bytes");
        }
    }
    let bytes = fatbin(
        concatenated(
            &[
                hip_bundle(&TWO, 64),
                compressed(&hip_bundle(&TWO, 64), 3, 1),
            ],
            64,
        ),
        2,
    );
    let layout = layout(&bytes);
    for length in 0..bytes.len() {
        scan_with(&bytes[..length], &layout, ScanDepth::Headers, 4096);
        scan(&bytes[..length]);
    }
}

#[test]
fn hostile_counts_cost_no_more_than_their_bytes() {
    // The code of each bundle is far away, so that the bundles overlap.
    let numbers = [1_u64, 1 << 40, 100, 6].map(u64::to_le_bytes).concat();
    let opener = [
        b"__CLANG_OFFLOAD_BUNDLE__".to_vec(),
        numbers,
        b"hip-gf".to_vec(),
    ]
    .concat();
    for (bundles, is_limited) in [
        (MAX_OPEN_BUNDLES, false),
        (MAX_OPEN_BUNDLES + 1, true),
        (2000, true),
    ] {
        let inventory = scan(&fatbin(opener.repeat(bundles), 1));
        assert_eq!(
            inventory.limits.contains(&ScanLimit::OverlappingBundles),
            is_limited,
            "{:?}",
            summary(&inventory)
        );
    }

    // Every entry claims the whole address space, or the same place.
    for (offset, size) in [
        (u64::MAX - 10, 100),
        (1 << 62, u64::MAX),
        (0, u64::MAX),
        (200_000, u64::MAX),
    ] {
        let mut table = [
            b"__CLANG_OFFLOAD_BUNDLE__".to_vec(),
            4096_u64.to_le_bytes().to_vec(),
        ]
        .concat();
        for _ in 0..4096 {
            for number in [offset, size, 6_u64] {
                table.extend(number.to_le_bytes());
            }
            table.extend(b"hip-gf");
        }
        table.resize(300_000, 0);
        let inventory = scan(&fatbin(table, 1));
        assert_eq!(inventory.containers.len(), 1);
        assert_eq!(inventory.damages.len(), 1, "the same words are told once");
    }

    // A frame that decompresses to far more than its header declares is abandoned at once.
    let mut bomb = compressed(&vec![0; 50_000_000], 2, 1);
    bomb[12..16].copy_from_slice(&100_u32.to_le_bytes());
    let told = summary(&scan(&fatbin(bomb, 1)));
    assert!(
        told[0].contains("its header says 100") || told[0].contains("does not begin as a bundle"),
        "{told:?}"
    );
}

#[test]
fn containers_are_counted_up_to_the_limit() {
    for (objects, limits) in [(MAX_CONTAINERS, 0), (MAX_CONTAINERS + 1, 1)] {
        let inventory = scan(&fatbin(code_object(0x4c, 3, 64).repeat(objects), 1));
        assert_eq!(
            (inventory.containers.len(), inventory.limits.len()),
            (MAX_CONTAINERS, limits)
        );
    }
}

#[test]
fn baits_are_kept_up_to_the_limit() {
    for (baits, limits) in [
        (MAX_LOOKALIKES, vec![]),
        (MAX_LOOKALIKES + 1, vec![ScanLimit::Containers]),
    ] {
        let inventory = scan(&fatbin(b"CCOB\x09\0\0\0".repeat(baits), 1));
        assert_eq!(
            inventory.limits.into_iter().collect::<Vec<_>>(),
            limits,
            "{baits}"
        );
    }
}

/// There is a limit for one bundle, and one for all bundles of a file.
#[test]
fn entries_are_counted_up_to_the_limits() {
    let of = |entries: usize| bundle(&vec![("host-", Vec::new()); entries], 1);
    let most = usize::try_from(MAX_BUNDLE_ENTRIES).unwrap();
    assert_eq!(scan(&fatbin(of(most), 1)).containers[0].entries.len(), most);
    check(
        &fatbin(of(most + 1), 1),
        &["0x100: its table claims 4097 entries"],
    );

    let all = of(most).repeat(MAX_ENTRIES / most);
    let count = |bytes: Vec<u8>| {
        let inventory = scan(&fatbin(bytes, 1));
        let entries = inventory
            .containers
            .iter()
            .map(|container| container.entries.len())
            .sum::<usize>();
        (entries, inventory.limits.into_iter().collect::<Vec<_>>())
    };
    assert_eq!(count(all.clone()), (MAX_ENTRIES, vec![]));
    assert_eq!(
        count([all, of(1)].concat()),
        (MAX_ENTRIES, vec![ScanLimit::Entries])
    );
}

/// A longer ID makes the bundle malformed.
#[test]
fn ids_are_read_up_to_the_limit() {
    let with_id = |length: u64| {
        let id = format!("host-{}", "x".repeat(usize::try_from(length).unwrap() - 5));
        scan(&fatbin(bundle(&[(&id, Vec::new())], 1), 1))
    };
    assert_eq!(with_id(MAX_ID_BYTES).containers[0].entries.len(), 1);
    assert_eq!(
        summary(&with_id(MAX_ID_BYTES + 1)),
        ["0x100: entry 0 claims an id of 257 bytes"]
    );
}

#[test]
fn wrappers_are_counted_up_to_the_limit() {
    for (count, limits) in [
        (MAX_WRAPPERS, vec![]),
        (MAX_WRAPPERS + 1, vec![ScanLimit::Wrappers]),
    ] {
        let inventory = scan(&library(&[part(
            ".hipFatBinSegment",
            wrappers(count, *b"FPIH"),
        )]));
        assert_eq!(inventory.wrappers, MAX_WRAPPERS as u64);
        assert_eq!(inventory.limits.into_iter().collect::<Vec<_>>(), limits);
    }
}

/// The limit holds for chunks of any size.
#[test]
fn bundles_unpack_up_to_the_limit() {
    assert_eq!(
        CodeScanner::new(ScanDepth::Tables).budget,
        MAX_UNPACKED_BYTES
    );
    let raw = noisy_bundle();
    for (version, method) in [(1, 0), (2, 1), (3, 1)] {
        let bytes = fatbin(compressed(&raw, version, method), 1);
        let layout = layout(&bytes);
        for (less, limits) in [(0, vec![]), (1, vec![ScanLimit::DecompressedBytes])] {
            for piece in [1000, 256 << 10] {
                let mut scanner = CodeScanner::new(ScanDepth::Headers);
                scanner.budget = raw.len() as u64 - less;
                bytes.chunks(piece).for_each(|piece| scanner.feed(piece));
                let found = scanner
                    .finish(&layout)
                    .limits
                    .into_iter()
                    .collect::<Vec<_>>();
                assert_eq!(
                    found, limits,
                    "version {version}, {less} less, in pieces of {piece}"
                );
            }
        }
    }
}

/// A larger window makes the bundle malformed.
#[test]
fn zstd_windows_up_to_the_limit_are_unpacked() {
    let raw = hip_bundle(&TWO, 64);
    let with_window = |log: u32| {
        // A frame with a window and one raw block, the last (RFC 8878, sections 3.1.1.1 and
        // 3.1.1.2).
        let window = u8::try_from((log - 10) << 3).unwrap();
        let block = u32::try_from(raw.len() << 3 | 1).unwrap().to_le_bytes();
        let frame = [&[0x28, 0xb5, 0x2f, 0xfd, 0, window], &block[..3], &raw].concat();
        let size = u32::try_from(raw.len()).unwrap().to_le_bytes();
        let header = [&b"CCOB\x01\0\x01\0"[..], &size, &[0; 8]].concat();
        summary(&scan(&fatbin([header, frame].concat(), 1)))
    };
    assert_eq!(
        with_window(MAX_ZSTD_WINDOW_LOG),
        [".hip_fatbin ccob1 at 0x100: gfx942/5 gfx1100/5"]
    );
    let found = with_window(MAX_ZSTD_WINDOW_LOG + 1);
    assert!(
        found
            .iter()
            .any(|line| line.ends_with("its data is damaged after 0 unpacked bytes")),
        "{found:?}"
    );
}

#[test]
fn a_scan_that_met_nothing_says_that_the_rest_need_not_be_read() {
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
    union.count_source(super::SourceKind::Bitcode);
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

/// Generates ranges of a file: noise, lookalikes and code.
fn file_ranges() -> impl Strategy<Value = Vec<u8>> {
    let code = prop_oneof![
        Just(hip_bundle(&TWO, 64)),
        Just(hip_bundle(&[("gfx90a", 0x53f), ("gfx1201", 0x4e)], 700)),
        Just(code_object(0x4c, 3, 640)),
        Just(code_object(0x7e, 4, 64)),
        (1_u16..4, 0_u16..2).prop_map(|(version, method)| compressed(
            &hip_bundle(&TWO, 5000),
            version,
            method
        )),
    ];
    prop_oneof![
        3 => code.clone(),
        2 => (code, 0_usize..400).prop_map(|(code, length)| code[..length.min(code.len())].to_vec()),
        1 => Just(b"__CLANG_OFFLOAD_BUNDLE__".to_vec()),
        1 => Just(b"__CLANG_OFFLOAD_BUNDLE__\x03\0\0\0\0\0\0\0".to_vec()),
        1 => Just(b"CCOB\x01\0\x01\0\xff\xff\0\0hashhash\x28\xb5\x2f\xfd".to_vec()),
        1 => Just(b"FPIH\x01\0\0\0".to_vec()),
        1 => proptest::collection::vec(any::<u8>(), 0..200),
        1 => (0_usize..300).prop_map(|length| vec![0; length]),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn pieces_of_any_size_give_the_same_inventory(
        one in proptest::collection::vec(file_ranges(), 0..8),
        other in proptest::collection::vec(file_ranges(), 0..5),
        flips in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        sizes in proptest::collection::vec(1_usize..2000, 1..4),
        depth in prop_oneof![Just(ScanDepth::Tables), Just(ScanDepth::Headers)],
    ) {
        let mut bytes = library(&[
            part(".rodata", other.concat()),
            part(".hipFatBinSegment", wrappers(one.len(), *b"FPIH")),
            part(".hip_fatbin", one.concat()),
        ]);
        let layout = layout(&bytes);
        for (at, value) in flips {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        let whole = scan_with(&bytes, &layout, depth, usize::MAX);
        for piece in [1, 7, 63, 64, 65, 64 << 10] {
            prop_assert_eq!(&scan_with(&bytes, &layout, depth, piece), &whole, "pieces of {}", piece);
        }
        let mut scanner = CodeScanner::new(depth);
        let mut rest = bytes.as_slice();
        for size in sizes.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (piece, after) = rest.split_at((*size).min(rest.len()));
            scanner.feed(piece);
            rest = after;
        }
        prop_assert_eq!(scanner.finish(&layout), whole);
    }

    #[test]
    fn random_bytes_are_no_code(bytes in proptest::collection::vec(any::<u8>(), 0..5000)) {
        prop_assert!(scan_with(&bytes, &FileLayout::without_sections(), ScanDepth::Headers, 100).is_empty());
    }
}
