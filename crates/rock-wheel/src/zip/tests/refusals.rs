//! Archives that are refused.

use super::*;

#[test]
fn truncated_archives_are_errors() {
    let bytes = sample();
    for length in 0..bytes.len() {
        assert!(
            matches!(read(&bytes[..length]), Err(WheelError::NotAZip(_))),
            "{length} bytes"
        );
    }
}

#[test]
fn wrong_bytes_never_panic_or_change_content_unnoticed() {
    let bytes = sample();
    let expect = read(&bytes).unwrap();
    for at in 0..bytes.len() {
        for flip in [1, 0x80, 0xff] {
            let mut wrong = bytes.clone();
            wrong[at] ^= flip;
            if let Ok(read) = read(&wrong) {
                assert!(
                    read.iter()
                        .map(|(_, content)| content)
                        .eq(expect.iter().map(|(_, content)| content))
                );
            }
        }
    }
}

#[test]
fn bytes_before_and_after_the_archive_are_an_error() {
    assert!(
        open_error(&[b"#!/bin/sh\n".as_slice(), &sample()].concat())
            .contains("but should end at byte")
    );
    assert!(matches!(
        read(&[sample().as_slice(), b"x"].concat()),
        Err(WheelError::NotAZip(_))
    ));
}

#[test]
fn an_encrypted_member_is_refused() {
    assert_eq!(
        open_error(&patched(CENTRAL, 0, 8, &[1])),
        "the member `a.txt` is encrypted"
    );
}

#[test]
fn other_compression_methods_are_refused_by_name() {
    for (number, name) in [
        (12, "bzip2"),
        (14, "LZMA"),
        (93, "Zstandard"),
        (9, "Deflate64"),
        (77, "method 77"),
    ] {
        let expect = format!(
            "the member `a.txt` is compressed with {name}, which installers do not support"
        );
        assert_eq!(open_error(&patched(CENTRAL, 0, 10, &[number])), expect);
    }
}

#[test]
fn split_archives_are_refused() {
    let expect = "it is one part of a split zip archive";
    assert_eq!(open_error(&patched(END, 0, 4, &[1])), expect);
    assert_eq!(open_error(&patched(END, 0, 8, &[9])), expect);
    assert_eq!(open_error(&patched(CENTRAL, 1, 34, &[1])), expect);
}

#[test]
fn unsafe_names_are_refused() {
    for name in ["/a.tx", "../xy", "a\\tx.", "a\0txt", "C:txt", "a//tx"] {
        let bytes = written(&[(name, b"", 0)]);
        assert!(
            matches!(read(&bytes), Err(WheelError::UnsafeName { .. })),
            "{name}"
        );
    }
}

#[test]
fn duplicate_names_are_refused() {
    assert_eq!(
        open_error(&written(&[("a", b"1", 0), ("b", b"", 0), ("a", b"2", 0)])),
        "two members are named `a`"
    );
}

#[test]
fn contradictory_local_headers_are_refused() {
    let differs = |what| {
        format!("the local header and the central directory disagree about the {what} of `a.txt`")
    };
    assert_eq!(open_error(&patched(LOCAL, 0, 30, b"b")), differs("name"));
    assert_eq!(
        open_error(&patched(LOCAL, 0, 8, &[0])),
        differs("compression")
    );
    assert_eq!(open_error(&patched(LOCAL, 0, 6, &[1])), differs("flags"));
    assert_eq!(open_error(&patched(LOCAL, 0, 22, &[1])), differs("size"));
    assert_eq!(open_error(&patched(LOCAL, 0, 18, &[1])), differs("size"));
    assert_eq!(
        open_error(&patched(LOCAL, 0, 14, &[1, 2, 3])),
        differs("CRC-32")
    );
}

#[test]
fn overlapping_members_are_refused() {
    let mut bytes = sample();
    let (first, second) = (nth(&bytes, CENTRAL, 0), nth(&bytes, CENTRAL, 2));
    let offset = bytes[first + 42..first + 46].to_vec();
    bytes[second + 42..second + 46].copy_from_slice(&offset);
    assert!(
        matches!(read(&bytes), Err(WheelError::HeaderMismatch { .. })),
        "the name there is another"
    );

    // A member whose data contains another member.
    let inner = written(&[("inner", b"x", 0)]);
    let local = &inner[..nth(&inner, CENTRAL, 0)];
    let mut writer_bytes = Vec::new();
    let mut writer = ZipWriter::new(&mut writer_bytes);
    writer.add("outer", local, &at_level(0)).unwrap();
    writer.add("inner", b"x", &at_level(0)).unwrap();
    writer.finish().unwrap();
    let central = nth(&writer_bytes, CENTRAL, 1);
    let within = u32::try_from(30 + "outer".len()).unwrap();
    writer_bytes[central + 42..central + 46].copy_from_slice(&within.to_le_bytes());
    assert_eq!(
        open_error(&writer_bytes),
        "the members `outer` and `inner` overlap"
    );
}

#[test]
fn a_symbolic_link_is_refused() {
    let mut bytes = Vec::new();
    let mut writer = ZipWriter::new(&mut bytes);
    writer
        .add(
            "lib.so",
            b"lib.so.1",
            &MemberOptions {
                unix_mode: 0o120_777,
                ..MemberOptions::default()
            },
        )
        .unwrap();
    writer.finish().unwrap();
    assert!(open_error(&bytes).starts_with("the member `lib.so` is a symbolic link"));
}

#[test]
fn damaged_data_is_found_by_its_crc() {
    let bytes = written(&[("a", b"content", 0)]);
    let at = nth(&bytes, b"content", 0);
    let mut wrong = bytes.clone();
    wrong[at] = b'k';
    assert_eq!(
        open_error(&wrong),
        "the data of `a` is damaged: its CRC-32 is not the one in its header"
    );
}

#[test]
fn inflating_stops_at_the_size_of_the_header() {
    let zeros = vec![0; 5000];
    let mut bytes = written(&[("bomb", &zeros, 9)]);
    for (kind, at) in [(LOCAL, 22), (CENTRAL, 24)] {
        let start = nth(&bytes, kind, 0) + at;
        bytes[start..start + 4].copy_from_slice(&100_u32.to_le_bytes());
    }
    assert_eq!(
        open_error(&bytes),
        "the data of `bomb` is damaged: it is longer than its header says"
    );
}

/// RFC 1951, section 3.2.5: 258 bytes in two bits.
#[test]
fn deflated_members_claim_at_most_1032_times_their_data() {
    let content = vec![0; 5000];
    let bytes = written(&[("zeros", &content, 9)]);
    let compressed_bytes = ZipArchive::open(&bytes).unwrap().members()[0].compressed_bytes();
    let claiming = |size_bytes: u64| {
        let mut bytes = bytes.clone();
        for (kind, at) in [(LOCAL, 22), (CENTRAL, 24)] {
            let start = nth(&bytes, kind, 0) + at;
            bytes[start..start + 4]
                .copy_from_slice(&u32::try_from(size_bytes).unwrap().to_le_bytes());
        }
        bytes
    };
    let limit = compressed_bytes * 1032;
    assert_eq!(
        ZipArchive::open(&claiming(limit)).unwrap().members()[0].size_bytes(),
        limit
    );
    let refused = ZipArchive::open(&claiming(limit + 1))
        .unwrap_err()
        .to_string();
    let expected = format!(
        "{} bytes, more than {compressed_bytes} bytes of deflated data can contain",
        limit + 1
    );
    assert!(refused.ends_with(&expected), "{refused}");
}

#[test]
fn a_count_or_size_beyond_the_file_allocates_nothing() {
    for (at, with) in [
        (8, [0xff_u8; 4].as_slice()),
        (12, &[0xff; 4]),
        (16, &[0xff; 4]),
    ] {
        assert!(read(&patched(END, 0, at, with)).is_err());
    }
    assert!(open_error(&patched(CENTRAL, 0, 28, &[0xff, 0xff])).contains("truncated"));
    assert!(read(&patched(CENTRAL, 0, 42, &[0xff, 0xff, 0xff, 0x7f])).is_err());
}

#[test]
fn central_directories_have_limits() {
    use super::super::limits::{MAX_CENTRAL_BYTES, MAX_MEMBERS};
    let source = Sparse {
        ranges: Vec::new(),
        size: 64 << 20,
    };
    let error_message = |count, length| {
        let end = eocd::CentralDirectory {
            offset: 0,
            length,
            count,
            comment: Vec::new(),
        };
        central::read_central(&source, &end)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        error_message(MAX_MEMBERS + 1, 46),
        "the archive has 262145 members; the limit is 262144"
    );
    assert_eq!(
        error_message(1, MAX_CENTRAL_BYTES + 1),
        "the archive has 33554433 bytes of headers in its central directory; the limit is 33554432"
    );
    for (count, length) in [(MAX_MEMBERS, 46), (1, MAX_CENTRAL_BYTES)] {
        assert_eq!(
            error_message(count, length),
            "the zip structure at byte 0 is damaged: expected a member header"
        );
    }
}
