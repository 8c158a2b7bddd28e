//! Damaged, truncated and lookalike code.

use super::*;

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
        let inventory = scan(&rodata(
            [vec![b'x'; 9], bait.clone(), vec![0; 100]].concat(),
        ));
        assert!(
            inventory.is_empty(),
            "{:?} of {bait:x?}",
            summary(&inventory)
        );
        // A real bundle right after it is found all the same.
        let after = [bait.clone(), hip_bundle(&TWO, 64)].concat();
        let lines = summary(&scan(&rodata(after)));
        assert!(
            lines.len() == 1 && lines[0].ends_with(": gfx942/5 gfx1100/5"),
            "{lines:?} after {bait:x?}"
        );
    }
    // The code objects of an invalid bundle are containers of their own.
    for cut in [outside, foreign] {
        let lines = summary(&scan(&rodata([cut, vec![0; 99]].concat())));
        assert!(
            lines.len() == 1 && lines[0].starts_with("embedded elf at"),
            "{lines:?}"
        );
    }
}

#[test]
fn damage_in_the_section_for_bundles_is_reported() {
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
    let lines = summary(&scan(&fatbin(concatenated(&[torn, good.clone()], 8), 2)));
    assert_eq!(
        lines[0], ".hip_fatbin ccob2 at 0x100: gfx942/5 gfx1100",
        "{lines:?}"
    );
    assert!(
        lines[1].contains("bundle at") && lines[2].contains("damaged after"),
        "{lines:?}"
    );
    let mut lies = compressed(&good, 3, 1);
    lies[16] ^= 1;
    let lines = summary(&scan(&fatbin(lies, 1)));
    assert!(
        lines.iter().any(|line| line.contains("its header says")),
        "{lines:?}"
    );
    check(
        &fatbin(b"CCOB\x04\0\x01\0".to_vec(), 1),
        &["0x100: its version 4 is unknown"],
    );
}

#[test]
fn a_file_cut_off_anywhere_is_reported_and_never_a_panic() {
    let bundles = [
        hip_bundle(&TWO, 64),
        compressed(&hip_bundle(&TWO, 64), 2, 0),
        compressed(&hip_bundle(&TWO, 64), 1, 1),
    ];
    for bytes in bundles {
        assert_eq!(scan(&bytes).damages, []);
        for length in 1..bytes.len() {
            let inventory = scan(&bytes[..length]);
            let is_reported = !inventory.damages.is_empty() || inventory.is_empty();
            assert!(
                is_reported,
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
        assert_eq!(
            inventory.damages.len(),
            1,
            "equal damages are reported once"
        );
    }

    // A frame that decompresses to far more than its header declares is abandoned at once.
    let mut bomb = compressed(&vec![0; 50_000_000], 2, 1);
    bomb[12..16].copy_from_slice(&100_u32.to_le_bytes());
    let lines = summary(&scan(&fatbin(bomb, 1)));
    assert!(
        lines[0].contains("its header says 100")
            || lines[0].contains("does not start like a bundle"),
        "{lines:?}"
    );
}
