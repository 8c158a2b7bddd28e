use std::io::{Cursor, Read, Write};

use proptest::prelude::*;

use super::super::WheelError;
use super::*;

fn written(members: &[(&str, &[u8], u32)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = ZipWriter::new(&mut bytes);
    for (name, content, level) in members {
        writer
            .add(
                name,
                content,
                &MemberOptions {
                    level: *level,
                    ..MemberOptions::default()
                },
            )
            .unwrap();
    }
    writer.finish().unwrap();
    bytes
}

fn sample() -> Vec<u8> {
    written(&[
        ("a.txt", &[b'a'; 999], 6),
        ("folder/", b"", 0),
        ("folder/b.bin", b"stored", 0),
    ])
}

/// Returns all members with their contents, or the first error.
fn read(bytes: &[u8]) -> Result<Vec<(String, Vec<u8>)>, WheelError> {
    let source = bytes.to_vec();
    let archive = ZipArchive::open(&source)?;
    archive
        .members()
        .iter()
        .map(|m| Ok((m.name().to_owned(), archive.read(m, 1 << 20)?)))
        .collect()
}

#[track_caller]
fn open_error(bytes: &[u8]) -> String {
    read(bytes).unwrap_err().to_string()
}

/// Returns the offset of the nth occurrence of some bytes.
fn nth(bytes: &[u8], needle: &[u8], n: usize) -> usize {
    bytes
        .windows(needle.len())
        .enumerate()
        .filter(|(_, w)| *w == needle)
        .nth(n)
        .unwrap()
        .0
}

const LOCAL: &[u8] = b"PK\x03\x04";
const CENTRAL: &[u8] = b"PK\x01\x02";
const END: &[u8] = b"PK\x05\x06";

/// The sample with some bytes overwritten at an offset from the nth header of a kind.
fn patched(kind: &[u8], n: usize, at: usize, with: &[u8]) -> Vec<u8> {
    let mut bytes = sample();
    let start = nth(&bytes, kind, n) + at;
    bytes[start..start + with.len()].copy_from_slice(with);
    bytes
}

#[test]
fn stored_deflated_and_directory_members_are_read() {
    let expect = vec![
        ("a.txt".to_owned(), vec![b'a'; 999]),
        ("folder/".to_owned(), Vec::new()),
        ("folder/b.bin".to_owned(), b"stored".to_vec()),
    ];
    assert_eq!(read(&sample()).unwrap(), expect);
    let source = sample();
    let archive = ZipArchive::open(&source).unwrap();
    assert_eq!(archive.members()[0].method(), CompressionMethod::Deflated);
    assert_eq!(archive.members()[2].unix_mode(), 0o100_644);
}

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
            .contains("does not end where it should")
    );
    assert!(matches!(
        read(&[sample().as_slice(), b"x"].concat()),
        Err(WheelError::NotAZip(_))
    ));
}

#[test]
fn archive_comments_are_separate() {
    let mut bytes = sample();
    let length = bytes.len();
    bytes[length - 2..].copy_from_slice(&5_u16.to_le_bytes());
    bytes.extend(b"hello");
    assert_eq!(read(&bytes).unwrap().len(), 3);
    assert_eq!(ZipArchive::open(&bytes).unwrap().comment(), b"hello");
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
        let expect =
            format!("the member `a.txt` is compressed by {name}, which installers do not read");
        assert_eq!(open_error(&patched(CENTRAL, 0, 10, &[number])), expect);
    }
}

#[test]
fn split_archives_are_refused() {
    let expect = "it is one of several parts of a zip archive";
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
        format!("the local header of `a.txt` gives another {what} than the central directory")
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
    writer
        .add(
            "outer",
            local,
            &MemberOptions {
                level: 0,
                ..MemberOptions::default()
            },
        )
        .unwrap();
    writer
        .add(
            "inner",
            b"x",
            &MemberOptions {
                level: 0,
                ..MemberOptions::default()
            },
        )
        .unwrap();
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
        "the data of `bomb` is damaged: there is more of it than its header says"
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
        "{} bytes, more than {compressed_bytes} bytes of deflated data hold",
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
    assert!(open_error(&patched(CENTRAL, 0, 28, &[0xff, 0xff])).contains("cut off"));
    assert!(read(&patched(CENTRAL, 0, 42, &[0xff, 0xff, 0xff, 0x7f])).is_err());
}

#[test]
fn data_descriptors_of_streamed_archives_are_read() {
    let mut writer = zip::ZipWriter::new_stream(Vec::new());
    let options = zip::write::SimpleFileOptions::default();
    for name in ["a", "b"] {
        writer.start_file(name, options).unwrap();
        writer.write_all(&[7; 3000]).unwrap();
    }
    let bytes = writer.finish().unwrap().into_inner();
    assert_eq!(
        read(&bytes).unwrap(),
        [
            ("a".to_owned(), vec![7; 3000]),
            ("b".to_owned(), vec![7; 3000])
        ]
    );

    // Copies have ordinary headers.
    let archive = ZipArchive::open(&bytes).unwrap();
    let mut copy = Vec::new();
    let mut writer = ZipWriter::new(&mut copy);
    for member in archive.members() {
        writer
            .copy(&archive, member, member.name(), member.time())
            .unwrap();
    }
    writer.finish().unwrap();
    assert_eq!(read(&copy).unwrap(), read(&bytes).unwrap());
    assert!(
        archive
            .members()
            .iter()
            .all(|m| m.flags & FLAG_DESCRIPTOR != 0)
    );
    assert!(
        ZipArchive::open(&copy)
            .unwrap()
            .members()
            .iter()
            .all(|m| m.flags & FLAG_DESCRIPTOR == 0)
    );
}

#[test]
fn superfluous_zip64_values_are_read_and_noticed() {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    writer
        .start_file(
            "a",
            zip::write::SimpleFileOptions::default().large_file(true),
        )
        .unwrap();
    writer.write_all(b"small").unwrap();
    let bytes = writer.finish().unwrap().into_inner();
    assert_eq!(read(&bytes).unwrap(), [("a".to_owned(), b"small".to_vec())]);
    // A superfluous zip64 field in the central header, too.
    let plain = written(&[("a", b"x", 0)]);
    let (central, end) = (nth(&plain, CENTRAL, 0), nth(&plain, END, 0));
    let mut bytes = plain[..central + 47].to_vec();
    bytes[central + 30..central + 32].copy_from_slice(&12_u16.to_le_bytes());
    bytes.extend([1, 0, 8, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
    let mut tail = plain[end..].to_vec();
    tail[12..16].copy_from_slice(&u32::try_from(47 + 12).unwrap().to_le_bytes());
    bytes.extend(tail);
    assert!(ZipArchive::open(&bytes).unwrap().members()[0].has_inexact_zip64());
}

/// A large sparse file: bytes that are zero except for some ranges.
#[derive(Default)]
struct Sparse {
    ranges: Vec<(u64, Vec<u8>)>,
    size: u64,
}

impl rock_bytes::ReadAt for Sparse {
    fn size_bytes(&self) -> u64 {
        self.size
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> std::io::Result<usize> {
        let length =
            usize::try_from((self.size - offset.min(self.size)).min(buffer.len() as u64)).unwrap();
        buffer[..length].fill(0);
        for (start, bytes) in &self.ranges {
            for (at, byte) in bytes.iter().enumerate() {
                let position = start + at as u64;
                if position >= offset && position < offset + length as u64 {
                    buffer[usize::try_from(position - offset).unwrap()] = *byte;
                }
            }
        }
        Ok(length)
    }
}

impl Write for Sparse {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.ranges.push((self.size, bytes.to_vec()));
        self.size += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl rock_bytes::ByteSink for Sparse {
    /// Only zeros are copied.
    fn copy_from(
        &mut self,
        _: &dyn rock_bytes::ReadAt,
        _: u64,
        length: u64,
    ) -> std::io::Result<()> {
        self.size += length;
        Ok(())
    }

    fn overwrite(&mut self, back_bytes: u64, bytes: &[u8]) -> std::io::Result<()> {
        let start = self.size - back_bytes;
        let (_, range_bytes) = self.ranges.iter_mut().find(|(at, _)| *at == start).unwrap();
        range_bytes[..bytes.len()].copy_from_slice(bytes);
        Ok(())
    }
}

const LARGE: u64 = 5 << 30;

/// An archive with a stored member of 5 GiB between two small ones.
fn large() -> Sparse {
    let small = written(&[("first", b"1", 0), ("zeros", b"", 0), ("last", b"2", 0)]);
    let archive = ZipArchive::open(&small).unwrap();
    let mut sparse = Sparse::default();
    let mut writer = ZipWriter::new(&mut sparse);
    for member in archive.members() {
        let mut member = member.clone();
        if member.name == "zeros" {
            (member.size_bytes, member.compressed_bytes) = (LARGE, LARGE);
            writer
                .copy(&archive, &member, "zeros", DosTime::FIRST)
                .unwrap();
        } else {
            let content = archive.read(&member, 9).unwrap();
            writer
                .add(
                    &member.name,
                    &content,
                    &MemberOptions {
                        level: 0,
                        ..MemberOptions::default()
                    },
                )
                .unwrap();
        }
    }
    assert_eq!(writer.finish().unwrap(), sparse.size);
    sparse
}

#[test]
fn a_member_of_5_gib_and_one_after_it_need_zip64() {
    let sparse = large();
    let archive = ZipArchive::open(&sparse).unwrap();
    let sizes: Vec<u64> = archive
        .members()
        .iter()
        .map(ZipMember::size_bytes)
        .collect();
    assert_eq!(sizes, [1, LARGE, 1]);
    assert_eq!(
        archive.read(archive.member("last").unwrap(), 9).unwrap(),
        b"2"
    );
    assert!(
        archive
            .members()
            .iter()
            .all(|member| !member.has_inexact_zip64())
    );
    assert!(matches!(
        archive.read(&archive.members()[1], 1 << 20),
        Err(WheelError::MemberTooLarge { .. })
    ));
}

#[test]
fn zip64_fields_have_exactly_the_values_that_do_not_fit() {
    let sparse = large();
    let central = sparse
        .ranges
        .iter()
        .map(|(_, bytes)| bytes)
        .find(|bytes| bytes.starts_with(CENTRAL))
        .unwrap();
    let mut at = 0;
    let mut lengths = Vec::new();
    while central[at..].starts_with(CENTRAL) {
        let header = &central[at..];
        let full = [20, 24, 42]
            .iter()
            .filter(|slot| fields::u32_at(header, **slot) == FULL_32)
            .count();
        let [name, extra] = [28, 30].map(|slot| usize::from(fields::u16_at(header, slot)));
        let field = fields::extra_fields(&header[46 + name..46 + name + extra])
            .find(|(id, _)| *id == ZIP64_FIELD);
        assert_eq!(field.map_or(0, |(_, content)| content.len()), full * 8);
        lengths.push(full);
        at += 46 + name + extra;
        if at == central.len() {
            break;
        }
    }
    assert_eq!(lengths, [0, 2, 1]);
}

#[test]
fn seventy_thousand_members_need_a_zip64_count() {
    let mut bytes = Vec::new();
    let mut writer = ZipWriter::new(&mut bytes);
    for number in 0..70_000 {
        writer
            .add(&format!("m{number}"), b"", &MemberOptions::default())
            .unwrap();
    }
    writer.finish().unwrap();
    let archive = ZipArchive::open(&bytes).unwrap();
    assert_eq!(archive.members().len(), 70_000);
    assert!(archive.member("m69999").is_some() && archive.member("m70000").is_none());
    let mut theirs = zip::ZipArchive::new(Cursor::new(&bytes)).unwrap();
    assert_eq!(theirs.len(), 70_000);
    assert!(theirs.by_name("m65536").is_ok());
}

#[test]
fn central_directories_have_limits() {
    use super::limits::{MAX_CENTRAL_BYTES, MAX_MEMBERS};
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
        "the archive has 33554433 bytes of headers in its table of contents; the limit is 33554432"
    );
    for (count, length) in [(MAX_MEMBERS, 46), (1, MAX_CENTRAL_BYTES)] {
        assert_eq!(
            error_message(count, length),
            "the zip structure at byte 0 is damaged: expected a member header"
        );
    }
}

/// An archive of a member that was begun with a size but has other data, and of a member after it.
fn with_open_member(size_bytes: u64, level: u32, data_bytes: u64) -> Sparse {
    let mut sparse = Sparse::default();
    let mut writer = ZipWriter::new(&mut sparse);
    let options = MemberOptions {
        level,
        ..MemberOptions::default()
    };
    let open = writer.begin_member("big", size_bytes, &options).unwrap();
    writer.write_data(b"xyz").unwrap();
    let hole = data_bytes.saturating_sub(3);
    writer.skip(hole).unwrap();
    writer.end_member(open, 7).unwrap();
    writer.add("last", b"2", &options).unwrap();
    let length = writer.finish().unwrap();
    assert_eq!(length, sparse.size);
    sparse
}

#[test]
fn open_members_reserve_zip64_only_for_large_sizes() {
    for (size, level, data) in [
        (9 << 20, 6, 10 << 10),
        (LARGE, 6, LARGE / 1000),
        (LARGE, 0, LARGE),
        (LARGE, 6, LARGE + 99),
        // It could have grown beyond 4 GiB.
        ((4 << 30) - 2, 6, 5 << 20),
        ((4 << 30) - 2, 6, (4 << 30) + 7),
    ] {
        let sparse = with_open_member(size, level, data);
        let archive = ZipArchive::open(&sparse).unwrap();
        let big = &archive.members()[0];
        let found = (
            big.size_bytes(),
            big.compressed_bytes(),
            big.crc32(),
            big.has_inexact_zip64(),
        );
        assert_eq!(found, (size, data, 7, false));
        assert_eq!(archive.read(&archive.members()[1], 9).unwrap(), b"2");
        let central = sparse
            .ranges
            .iter()
            .map(|(_, bytes)| bytes)
            .find(|bytes| bytes.starts_with(CENTRAL))
            .unwrap();
        let has_field = fields::u16_at(central, 30) > 0;
        assert_eq!(
            has_field,
            size >= u64::from(FULL_32) || data >= u64::from(FULL_32),
            "{size} {data}"
        );
    }
}

#[test]
fn data_that_outgrows_its_header_is_an_error() {
    let mut sparse = Sparse::default();
    let mut writer = ZipWriter::new(&mut sparse);
    let open = writer
        .begin_member("big", 100, &MemberOptions::default())
        .unwrap();
    writer.skip(5 << 30).unwrap();
    assert!(writer.end_member(open, 7).is_err());
}

fn contents() -> impl Strategy<Value = Vec<(String, Vec<u8>, u32)>> {
    let content = prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..400),
        (any::<u8>(), 0..70_000_usize).prop_map(|(byte, length)| vec![byte; length]),
    ];
    proptest::collection::btree_map(
        "[a-zé]{1,8}(/[a-z. ,\"]{0,6}[a-z])?",
        (content, 0..10_u32),
        0..12,
    )
    .prop_map(|members| {
        let names: std::collections::BTreeSet<String> = members.keys().cloned().collect();
        // No directory has the name of a file.
        let is_apart = |name: &str| {
            name.split_once('/')
                .is_none_or(|(folder, _)| !names.contains(folder))
        };
        let members = members.into_iter().filter(|(name, _)| is_apart(name));
        members
            .map(|(name, (content, level))| (name, content, level))
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn archives_are_read_by_this_crate_and_by_zip(members in contents()) {
        let mut bytes = Vec::new();
        let mut writer = ZipWriter::new(&mut bytes);
        for (name, content, level) in &members {
            writer.add(name, content, &MemberOptions { level: *level, ..MemberOptions::default() }).unwrap();
        }
        prop_assert_eq!(writer.finish().unwrap(), bytes.len() as u64);
        let expect: Vec<(String, Vec<u8>)> = members.iter().map(|(n, c, _)| (n.clone(), c.clone())).collect();
        prop_assert_eq!(&read(&bytes).unwrap(), &expect);
        let mut theirs = zip::ZipArchive::new(Cursor::new(&bytes)).unwrap();
        for (at, (name, content)) in expect.iter().enumerate() {
            let mut file = theirs.by_index(at).unwrap();
            prop_assert_eq!(file.name().unwrap(), name.as_str());
            let mut read = Vec::new();
            file.read_to_end(&mut read).unwrap();
            prop_assert_eq!(&read, content);
        }
    }

    #[test]
    fn archives_of_zip_are_read_and_copied(members in contents()) {
        let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (name, content, level) in &members {
            let options = zip::write::SimpleFileOptions::default().compression_method(
                if *level == 0 { zip::CompressionMethod::Stored } else { zip::CompressionMethod::Deflated },
            );
            writer.start_file(name, options.large_file(*level == 9).unix_permissions(0o755)).unwrap();
            writer.write_all(content).unwrap();
        }
        let bytes = writer.finish().unwrap().into_inner();
        let expect: Vec<(String, Vec<u8>)> = members.iter().map(|(n, c, _)| (n.clone(), c.clone())).collect();
        prop_assert_eq!(&read(&bytes).unwrap(), &expect);
        let archive = ZipArchive::open(&bytes).unwrap();
        let mut copy = Vec::new();
        let mut writer = ZipWriter::new(&mut copy);
        for member in archive.members() {
            writer.copy(&archive, member, member.name(), member.time()).unwrap();
        }
        writer.finish().unwrap();
        prop_assert_eq!(&read(&copy).unwrap(), &expect);
        prop_assert!(ZipArchive::open(&copy).unwrap().members().iter().all(|m| m.unix_mode() & 0o777 == 0o755));
    }

    #[test]
    fn any_bytes_are_an_archive_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = read(&bytes);
        let _ = read(&[bytes.as_slice(), &sample()[nth(&sample(), CENTRAL, 0)..]].concat());
    }
}
