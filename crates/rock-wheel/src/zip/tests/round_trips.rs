//! Archives that are written, read and copied.

use proptest::prelude::*;

use super::*;

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
fn archive_comments_are_separate() {
    let mut bytes = sample();
    let length = bytes.len();
    bytes[length - 2..].copy_from_slice(&5_u16.to_le_bytes());
    bytes.extend(b"hello");
    assert_eq!(read(&bytes).unwrap().len(), 3);
    assert_eq!(ZipArchive::open(&bytes).unwrap().comment(), b"hello");
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
            writer.add(name, content, &at_level(*level)).unwrap();
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
