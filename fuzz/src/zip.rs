//! Reading archives and wheels.

use rock_matrix::bytes::{ReadAt, in_memory};
use rock_matrix::wheel::record::{Record, RecordRow};
use rock_matrix::wheel::zip::MemberOptions;
use rock_matrix::wheel::{MemberView, Wheel, ZipArchive, ZipWriter, read_metadata, verify};

use crate::{INFO, WHEEL};

/// What is read of one member, and how many members are.
const MOST_BYTES: u64 = 1 << 16;
const MOST_MEMBERS: usize = 16;

/// Reads the members of an archive in each way there is, which must agree, and verifies it as a
/// wheel. What does not begin as an archive is the text of a wheel's files: only so are sums right
/// whatever the text says.
pub fn zip(bytes: &[u8]) {
    let source = match bytes.split_first() {
        Some((choice @ 0..=1, texts)) => wheel(texts, *choice == 0),
        _ => bytes.to_vec(),
    };
    let found = verify(&source, &WHEEL.parse().expect("it is a wheel's name"));
    let archive = match ZipArchive::open(&source) {
        Ok(archive) => archive,
        Err(error) => {
            assert!(!found.is_empty() && !error.to_string().is_empty());
            return;
        }
    };
    for member in archive.members() {
        assert!(
            archive
                .member(member.name())
                .is_some_and(|other| other.name() == member.name())
        );
    }
    for member in archive.members().iter().take(MOST_MEMBERS) {
        let whole = archive.read(member, MOST_BYTES);
        if let Ok(whole) = &whole {
            assert_eq!(whole.len() as u64, member.size_bytes());
        }
        let mut streamed = 0;
        let stream = archive.stream(member, &mut |piece| streamed += piece.len() as u64);
        assert!(streamed <= member.size_bytes());
        let mut seen = Vec::new();
        let view = MemberView::new(
            &archive,
            member,
            &in_memory,
            Some(Box::new(|piece| seen.extend_from_slice(piece))),
        );
        let size = member.size_bytes();
        for (at, length) in [
            (0, 64),
            (size / 2, 100),
            (size.saturating_sub(9), 20),
            (7, 5000),
            (size / 3, 1),
        ] {
            let mut buffer = vec![0; length];
            match (view.read_at(&mut buffer, at), &whole) {
                (Ok(0), _) => assert!(at >= size),
                (Ok(read), Ok(whole)) => {
                    let at = usize::try_from(at).expect("it is small");
                    assert_eq!(buffer[..read], whole[at..at + read]);
                }
                (Ok(read), Err(_)) => assert!(read <= length),
                (Err(_), whole) => assert!(whole.is_err(), "{whole:?}"),
            }
        }
        let end = view.finish();
        drop(view);
        if let Ok(whole) = whole {
            assert!(stream.is_ok() && end.is_ok() && whole == seen);
        }
    }
    let _ = read_metadata(&source);
    if let Ok(wheel) = Wheel::open(&source) {
        assert!(archive.member(&wheel.dist_info_path("RECORD")).is_some());
    }
}

/// A wheel of METADATA, WHEEL, RECORD and another file, split by a byte that is in no text.
fn wheel(texts: &[u8], is_recorded: bool) -> Vec<u8> {
    let mut parts = texts.splitn(4, |byte| *byte == 0xff);
    let mut files: Vec<(String, &[u8])> = Vec::new();
    for name in ["METADATA", "WHEEL"] {
        files.push((format!("{INFO}/{name}"), parts.next().unwrap_or_default()));
    }
    let mut record = parts.next().unwrap_or_default().to_vec();
    files.push((
        "demo/__init__.py".to_owned(),
        parts.next().unwrap_or_default(),
    ));
    let path = format!("{INFO}/RECORD");
    if is_recorded {
        let rows = files
            .iter()
            .map(|(name, content)| RecordRow::for_content(name, content));
        record = Record {
            rows: rows.chain([RecordRow::without_hash(&path)]).collect(),
        }
        .to_bytes();
    }
    files.push((path, &record));
    let mut bytes = Vec::new();
    let mut writer = ZipWriter::new(&mut bytes);
    for (name, content) in &files {
        writer
            .add(
                name,
                content,
                &MemberOptions {
                    level: 1,
                    ..MemberOptions::default()
                },
            )
            .expect("memory takes everything");
    }
    writer.finish().expect("memory takes everything");
    bytes
}
