//! Properties: random files in chunks of random sizes.

use proptest::prelude::*;

use super::*;

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
