//! Truncated wheels, and wheels with false sizes.

use std::io::Write as _;

use super::*;
use rock_diagnostic::Diagnostic;
use rock_names::WheelName;

const LOCAL: &[u8] = b"PK\x03\x04";
const CENTRAL: &[u8] = b"PK\x01\x02";
const END: &[u8] = b"PK\x05\x06";

fn found(bytes: &[u8]) -> Vec<Diagnostic> {
    verify(&bytes.to_vec(), &NAME.parse::<WheelName>().unwrap())
}

#[track_caller]
fn codes(bytes: &[u8]) -> Vec<&'static str> {
    found(bytes).iter().map(|one| one.code.id).collect()
}

fn first(bytes: &[u8], kind: &[u8]) -> usize {
    bytes
        .windows(kind.len())
        .position(|window| window == kind)
        .unwrap()
}

fn put(bytes: &mut [u8], at: usize, value: u64) {
    bytes[at..at + 4].copy_from_slice(&u32::try_from(value).unwrap().to_le_bytes());
}

/// The small wheel with all zip structures: data descriptors, zip64 fields, a zip64 EOCD, a
/// comment.
fn with_all_structures() -> Vec<u8> {
    let small = small();
    let archive = ZipArchive::open(&small).unwrap();
    let mut writer = ::zip::ZipWriter::new_stream(Vec::new());
    for (number, member) in archive.members().iter().enumerate() {
        let options = ::zip::write::SimpleFileOptions::default().large_file(number == 1);
        writer.start_file(member.name(), options).unwrap();
        writer
            .write_all(&archive.read(member, 9999).unwrap())
            .unwrap();
    }
    let mut bytes = writer.finish().unwrap().into_inner();
    let (central, end) = (first(&bytes, CENTRAL) as u64, first(&bytes, END));
    let mut zip64 = b"PK\x06\x06\x2c\0\0\0\0\0\0\0\x2d\x03\x2d\0\0\0\0\0\0\0\0\0".to_vec();
    for value in [5, 5, end as u64 - central, central] {
        zip64.extend(value.to_le_bytes());
    }
    zip64.extend(b"PK\x06\x07\0\0\0\0");
    zip64.extend((end as u64).to_le_bytes());
    zip64.extend(1_u32.to_le_bytes());
    bytes.splice(end..end, zip64);
    let length = bytes.len();
    bytes[length - 2..].copy_from_slice(&7_u16.to_le_bytes());
    bytes.extend(b"comment");
    bytes
}

#[test]
fn truncated_wheels_are_errors() {
    assert_eq!(found(&small()), []);
    // PyPI refuses data descriptors.
    assert_eq!(codes(&with_all_structures()), ["W106"; 5]);
    for bytes in [small(), with_all_structures()] {
        for length in 0..bytes.len() {
            assert_eq!(codes(&bytes[..length]), ["W001"], "{length} bytes");
            assert!(
                Wheel::open(&bytes[..length].to_vec()).is_err()
                    && read_metadata(&bytes[..length].to_vec()).is_err()
            );
        }
    }
}

#[test]
fn wrong_bytes_in_any_structure_never_panic() {
    let bytes = with_all_structures();
    for at in 0..bytes.len() {
        for flip in [1, 0x80, 0xff] {
            let mut wrong = bytes.clone();
            wrong[at] ^= flip;
            for one in found(&wrong) {
                assert!(one.code.id.starts_with('W'), "{one:?} with byte {at}");
            }
        }
    }
}

/// Truncates the central directory, and sets the size in the EOCD.
#[test]
fn truncated_central_directories_are_errors() {
    let bytes = small();
    let (central, end) = (first(&bytes, CENTRAL), first(&bytes, END));
    for length in 0..end - central {
        let mut cut = [&bytes[..central + length], &bytes[end..]].concat();
        put(&mut cut, central + length + 12, length as u64);
        assert_eq!(codes(&cut), ["W002"], "{length} bytes");
    }
}

/// Also if the EOCD has the truncated offset.
#[test]
fn truncated_data_is_an_error() {
    let bytes = small();
    let (central, end) = (first(&bytes, CENTRAL), first(&bytes, END));
    for length in 0..central {
        let mut cut = [&bytes[..length], &bytes[central..]].concat();
        put(&mut cut, length + (end - central) + 16, length as u64);
        assert_eq!(codes(&cut), ["W002"], "{length} bytes");
    }
}

/// A wheel of one module, with a false size in both headers.
fn with_false_size(size: u64, level: u32) -> Vec<u8> {
    let mut bytes = wheel_bytes(&[("a.py".to_owned(), vec![0; 100_000])], level);
    for (kind, at) in [(LOCAL, 18), (CENTRAL, 20)] {
        let start = first(&bytes, kind);
        if level == 0 {
            put(&mut bytes, start + at, size);
        }
        put(&mut bytes, start + at + 4, size);
    }
    bytes
}

#[test]
fn false_sizes_are_found_without_allocating_them() {
    assert_eq!(codes(&with_false_size(100_000, 6)), [""; 0]);
    for size in [0, 1, 99_999, 100_001, 110_000, 4_000_000_000] {
        let bytes = with_false_size(size, 6);
        assert_eq!(codes(&bytes), ["W012"], "{size}");
        // More than the maximum ratio is refused before a member is read.
        let Ok(archive) = ZipArchive::open(&bytes) else {
            assert_eq!(size, 4_000_000_000);
            continue;
        };
        assert!(archive.read(&archive.members()[0], u64::MAX).is_err());
        let mut seen = 0;
        assert!(
            archive
                .stream(&archive.members()[0], &mut |piece| seen += piece.len())
                .is_err()
        );
        assert!(seen <= 100_000, "{seen}");
    }
    for size in [0, 99_999, 100_001, 4_000_000_000] {
        assert!(!codes(&with_false_size(size, 0)).is_empty(), "{size}");
    }
}

/// Metadata files that are bombs are not read.
#[test]
fn decompression_bombs_take_little_memory() {
    // Zeros deflate to a thousandth: 32 MiB to 32 KiB.
    let zeros = vec![0; 32 << 20];
    let bytes = wheel_bytes(&[("bomb.py".to_owned(), zeros.clone())], 9);
    assert!(bytes.len() < 64 << 10);
    assert_eq!(found(&bytes), []);
    let archive = ZipArchive::open(&bytes).unwrap();
    let largest = std::sync::atomic::AtomicUsize::new(0);
    let mut see = |piece: &[u8]| {
        largest.fetch_max(piece.len(), std::sync::atomic::Ordering::Relaxed);
    };
    archive
        .stream(archive.member("bomb.py").unwrap(), &mut see)
        .unwrap();
    assert!(largest.into_inner() <= rock_bytes::CHUNK_BYTES);

    let mut metadata = b"Metadata-Version: 2.1\nName: flash-attn\nVersion: 2.8.3\n\n".to_vec();
    metadata.extend(&zeros);
    let mut bomb = Vec::new();
    let mut writer = ZipWriter::new(&mut bomb);
    writer
        .add(
            "flash_attn-2.8.3.dist-info/METADATA",
            &metadata,
            &MemberOptions::default(),
        )
        .unwrap();
    writer.finish().unwrap();
    assert!(matches!(
        read_metadata(&bomb),
        Err(WheelError::MemberTooLarge { .. })
    ));
}
