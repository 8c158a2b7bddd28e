//! Archives with sizes, offsets or counts in zip64 records.

use super::*;

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
            writer.add(&member.name, &content, &at_level(0)).unwrap();
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

/// An archive of a member that was begun with a size but has other data, and of a member after it.
fn with_open_member(size_bytes: u64, level: u32, data_bytes: u64) -> Sparse {
    let mut sparse = Sparse::default();
    let mut writer = ZipWriter::new(&mut sparse);
    let options = at_level(level);
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
