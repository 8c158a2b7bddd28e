//! Rows of RECORD.

use super::*;

/// The small wheel with a replacement in RECORD.
fn with_record(from: &str, to: &str) -> Vec<u8> {
    let old = small();
    let archive = ZipArchive::open(&old).unwrap();
    let mut bytes = Vec::new();
    let mut writer = ZipWriter::new(&mut bytes);
    for member in archive.members() {
        let mut content = archive.read(member, 9999).unwrap();
        if member.name().ends_with("/RECORD") {
            let text = String::from_utf8(content).unwrap();
            assert!(text.contains(from), "{text}");
            content = text.replacen(from, to, 1).into_bytes();
        }
        writer
            .add(member.name(), &content, &MemberOptions::default())
            .unwrap();
    }
    writer.finish().unwrap();
    bytes
}

#[test]
fn rows_are_trusted_or_verified() {
    let outcome = |bytes: &Vec<u8>, record_check| {
        let options = checking(record_check);
        rewritten(bytes, &WheelEdits::default(), &options)
            .map(|_| ())
            .map_err(|error| {
                let diagnostic = error.diagnostic("w.whl");
                format!("{}: {}", diagnostic.code.id, diagnostic.message)
            })
    };
    let hash = "a.py,sha256=";
    for (from, to, expect) in [
        (hash, "a.py,sha256=A", "W022: RECORD has `sha256=A"),
        (
            ",99\n",
            ",98\n",
            "W022: RECORD has `98 bytes` for `b/c.so`, but it is `99 bytes`",
        ),
    ] {
        let bytes = with_record(from, to);
        assert_eq!(
            outcome(&bytes, RecordCheck::AllowWeakHashes),
            Ok(()),
            "{to}"
        );
        let error = outcome(&bytes, RecordCheck::AllMembers).unwrap_err();
        assert!(error.starts_with(expect), "{error}");
    }
    for record_check in [RecordCheck::AllowWeakHashes, RecordCheck::AllMembers] {
        let error = outcome(&with_record("a.py", "gone.py"), record_check).unwrap_err();
        assert_eq!(
            error,
            "W020: RECORD does not list `a.py`, so it cannot be verified"
        );
    }
    assert_eq!(outcome(&small(), RecordCheck::AllMembers), Ok(()));
}

#[test]
fn weak_hashes_are_replaced_with_a_warning() {
    let rewritten_with = |bytes: &Vec<u8>, record_check| {
        let (wheel, mut out) = (Wheel::open(bytes).unwrap(), Vec::new());
        let options = checking(record_check);
        let edits = WheelEdits::default();
        let rewriter = WheelRewriter {
            wheel: &wheel,
            edits: &edits,
            options: &options,
        };
        let summary = rewriter.write(&mut out, &|_| {}).unwrap();
        (summary.findings("w.whl"), out)
    };
    for (wrong, expect) in [
        (
            "b/c.so,md5=",
            "RECORD has a hash for it that is not permitted, `md5`",
        ),
        (
            "b/c.so,sha1=",
            "RECORD has a hash for it that is not permitted, `sha1`",
        ),
        ("b/c.so,=", "RECORD has no hash for it"),
    ] {
        let bytes = with_record("b/c.so,sha256=", wrong);
        let (found, out) = rewritten_with(&bytes, RecordCheck::AllMembers);
        assert_eq!(
            (
                found[0].code.id,
                found[0].is_error(),
                found[0].message.as_str()
            ),
            ("W024", false, expect)
        );
        assert_eq!(
            Wheel::open(&out).unwrap().record(),
            Wheel::open(&small()).unwrap().record()
        );
        assert_valid(&out);
        let (found, out) = rewritten_with(&bytes, RecordCheck::AllowWeakHashes);
        assert_eq!(found, []);
        assert_eq!(
            Wheel::open(&out).unwrap().record(),
            Wheel::open(&bytes).unwrap().record()
        );

        // Changed members must have a hash, unless RECORD is corrected or trusted.
        let mut edits = WheelEdits::default();
        edits.replaced.insert("b/c.so".to_owned(), vec![1].into());
        let error = rewritten(&bytes, &edits, &RewriteOptions::default())
            .unwrap_err()
            .diagnostic("w.whl");
        assert_eq!(
            (error.code.id, error.is_error(), error.message.as_str()),
            ("W024", true, expect)
        );
        for record_check in [RecordCheck::AllMembers, RecordCheck::AllowWeakHashes] {
            assert_valid(&rewritten(&bytes, &edits, &checking(record_check)).unwrap());
        }
    }
    assert_eq!(rewritten_with(&small(), RecordCheck::AllMembers).0, []);
    let text = String::from_utf8(Wheel::open(&small()).unwrap().record().to_bytes()).unwrap();
    let (_, out) = rewritten_with(
        &with_record(text.lines().next().unwrap(), "a.py,,"),
        RecordCheck::AllMembers,
    );
    assert_eq!(
        Wheel::open(&out).unwrap().record(),
        Wheel::open(&small()).unwrap().record()
    );
    let (found, _) = rewritten_with(&with_record("sha256=", "md5="), RecordCheck::AllMembers);
    assert_eq!(found.len(), 1);
}

#[test]
fn rows_without_hash_but_another_size_are_mismatches() {
    let old = with_record("b/c.so,sha256=", "b/c.so,md5=");
    let text = String::from_utf8(Wheel::open(&old).unwrap().record().to_bytes()).unwrap();
    let row = text
        .lines()
        .find(|line| line.starts_with("b/c.so"))
        .unwrap()
        .to_owned();
    let bytes = with_record(&row.replace("md5=", "sha256="), "b/c.so,,98");
    let all = checking(RecordCheck::AllMembers);
    let error = rewritten(&bytes, &WheelEdits::default(), &all).unwrap_err();
    assert_eq!(
        error.to_string(),
        "RECORD has `98 bytes` for `b/c.so`, but it is `99 bytes`"
    );
}

#[test]
fn mismatches_are_found_while_members_are_written() {
    let mut files = vec![
        ("big.so".to_owned(), content(5 << 20, 1)),
        ("mid.so".to_owned(), content(1 << 20, 2)),
    ];
    let mut old = wheel_bytes(&files, 0);
    let options = checking(RecordCheck::AllMembers);
    assert!(rewritten(&old, &WheelEdits::default(), &options).is_ok());
    // A changed byte with a matching CRC-32, as in a deliberate change.
    let at = old
        .windows(64)
        .position(|window| *window == files[0].1[..64])
        .unwrap();
    let before = crc32fast::hash(&files[0].1).to_le_bytes();
    files[0].1[0] ^= 1;
    old[at] = files[0].1[0];
    for place in 0..old.len() - 4 {
        if old[place..place + 4] == before {
            old[place..place + 4].copy_from_slice(&crc32fast::hash(&files[0].1).to_le_bytes());
        }
    }
    let error = rewritten(&old, &WheelEdits::default(), &options).unwrap_err();
    assert!(
        matches!(&error, WheelError::RecordMismatch { member, .. } if member == "big.so"),
        "{error}"
    );
    assert!(
        rewritten(&old, &WheelEdits::default(), &RewriteOptions::default()).is_ok(),
        "it was not to be looked at"
    );
}
