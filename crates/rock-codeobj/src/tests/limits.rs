//! Limits of a scan.

use super::*;

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
        assert_eq!(limits_of(&inventory), limits, "{baits}");
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
        (entries, limits_of(&inventory))
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
        assert_eq!(limits_of(&inventory), limits);
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
                let found = limits_of(&scanner.finish(&layout));
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
