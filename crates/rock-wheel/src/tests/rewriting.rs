//! Rewriting of wheels.
#![expect(
    clippy::ptr_arg,
    reason = "a slice of unknown length is no `dyn ReadAt`"
)]

use std::io::{Cursor, Read};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use rock_bytes::ReadAt;
use rock_names::WheelName;

const DIST_INFO: &str = "flash_attn-2.8.3.dist-info";

fn rewritten(
    bytes: &Vec<u8>,
    edits: &WheelEdits<'_>,
    options: &RewriteOptions,
) -> Result<Vec<u8>, WheelError> {
    let wheel = Wheel::open(bytes)?;
    let mut out = Vec::new();
    let length = rewrite(&wheel, edits, options, &mut out)?;
    assert_eq!(length, out.len() as u64);
    Ok(out)
}

#[track_caller]
fn assert_valid(bytes: &Vec<u8>) {
    assert_eq!(verify(bytes, &NAME.parse::<WheelName>().unwrap()), []);
}

fn names(bytes: &Vec<u8>) -> Vec<String> {
    ZipArchive::open(bytes)
        .unwrap()
        .members()
        .iter()
        .map(|member| member.name().to_owned())
        .collect()
}

/// Content that compresses a little.
fn content(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed | 1;
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend((state & 0x3f3f_3f3f_3f3f_3f3f).to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

/// A source that records the largest read.
struct Counted {
    bytes: Vec<u8>,
    largest: AtomicUsize,
}

impl ReadAt for Counted {
    fn size_bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> std::io::Result<usize> {
        self.largest.fetch_max(buffer.len(), Ordering::Relaxed);
        self.bytes.read_at(buffer, offset)
    }
}

#[test]
fn added_members_precede_dist_info_and_record_is_last() {
    let mut edits = WheelEdits::default();
    for name in [
        "flash_attn.libs/libz.so",
        "flash_attn.libs/liba.so",
        &format!("{DIST_INFO}/sboms/x.cdx.json"),
    ] {
        edits
            .added
            .insert(name.to_owned(), AddedMember::plain(b"new".to_vec()));
    }
    edits.removed.insert("a.py".to_owned());
    edits
        .renamed
        .insert("b/c.so".to_owned(), "d/c.so".to_owned());
    let out = rewritten(&small(), &edits, &RewriteOptions::default()).unwrap();
    assert_valid(&out);
    let expect = [
        "d/c.so",
        "flash_attn.libs/liba.so",
        "flash_attn.libs/libz.so",
        "flash_attn-2.8.3.dist-info/METADATA",
        "flash_attn-2.8.3.dist-info/WHEEL",
        "flash_attn-2.8.3.dist-info/sboms/x.cdx.json",
        "flash_attn-2.8.3.dist-info/RECORD",
    ];
    assert_eq!(names(&out), expect);
    let wheel = Wheel::open(&out).unwrap();
    assert!(
        wheel
            .record()
            .rows
            .iter()
            .map(|row| row.path.as_str())
            .eq(expect),
        "rows stand as the members do"
    );
}

#[test]
fn added_members_follow_a_renamed_directory() {
    let mut edits = WheelEdits::default();
    edits.renamed_dirs.insert(
        DIST_INFO.to_owned(),
        "flash_attn-2.8.3+x.dist-info".to_owned(),
    );
    edits.added.insert(
        format!("{DIST_INFO}/sboms/s"),
        AddedMember::plain(Vec::new()),
    );
    let out = rewritten(&small(), &edits, &RewriteOptions::default()).unwrap();
    assert!(names(&out).contains(&"flash_attn-2.8.3+x.dist-info/sboms/s".to_owned()));
    assert!(Wheel::open(&out).is_ok());
}

#[test]
fn the_name_of_a_moved_member_is_free() {
    let mut edits = WheelEdits::default();
    edits
        .renamed
        .insert("b/c.so".to_owned(), "scripts/c.so".to_owned());
    edits
        .replaced
        .insert("b/c.so".to_owned(), vec![8; 5].into());
    edits.added.insert(
        "b/c.so".to_owned(),
        AddedMember::executable(b"#!python".to_vec()),
    );
    let out = rewritten(&small(), &edits, &RewriteOptions::default()).unwrap();
    assert_valid(&out);
    let archive = ZipArchive::open(&out).unwrap();
    let read = |name: &str| archive.read(archive.member(name).unwrap(), 99).unwrap();
    assert_eq!(
        (read("scripts/c.so"), read("b/c.so")),
        (vec![8; 5], b"#!python".to_vec())
    );
}

/// Edits of missing members, and new names that are taken or unsafe.
#[test]
fn invalid_edits_are_refused() {
    let error = |change: fn(&mut WheelEdits<'_>)| {
        let mut edits = WheelEdits::default();
        change(&mut edits);
        rewritten(&small(), &edits, &RewriteOptions::default())
            .unwrap_err()
            .to_string()
    };
    let gone = |edits: &mut WheelEdits<'_>| edits.removed.extend(["x".to_owned()]);
    assert_eq!(error(gone), "`x` is missing");
    assert_eq!(
        error(|edits| drop(edits.renamed.insert("y".to_owned(), "a".to_owned()))),
        "`y` is missing"
    );
    assert_eq!(
        error(|edits| drop(edits.replaced.insert("z".to_owned(), Vec::new().into()))),
        "`z` is missing"
    );
    let twice = |edits: &mut WheelEdits<'_>| {
        drop(
            edits
                .added
                .insert("a.py".to_owned(), AddedMember::plain(Vec::new())),
        );
    };
    assert_eq!(error(twice), "two members are named `a.py`");
    let record = |edits: &mut WheelEdits<'_>| {
        drop(edits.added.insert(
            format!("{DIST_INFO}/RECORD"),
            AddedMember::plain(Vec::new()),
        ));
    };
    assert_eq!(
        error(record),
        "two members are named `flash_attn-2.8.3.dist-info/RECORD`"
    );
    let out = |edits: &mut WheelEdits<'_>| {
        drop(
            edits
                .added
                .insert("../x".to_owned(), AddedMember::plain(Vec::new())),
        );
    };
    assert_eq!(
        error(out),
        "the member name `../x` is refused: it leads out of its folder with `..`"
    );
}

#[test]
fn modes_are_kept_and_new_members_are_regular_files() {
    let mut bytes = Vec::new();
    let old = small();
    let archive = ZipArchive::open(&old).unwrap();
    let mut writer = ZipWriter::new(&mut bytes);
    for member in archive.members() {
        let unix_mode = match member.name() {
            "a.py" => 0,
            "b/c.so" => 0o100_711,
            _ => member.unix_mode(),
        };
        let options = MemberOptions {
            unix_mode,
            ..MemberOptions::default()
        };
        writer
            .add(
                member.name(),
                &archive.read(member, 9999).unwrap(),
                &options,
            )
            .unwrap();
    }
    writer.finish().unwrap();
    let mut edits = WheelEdits::default();
    for name in ["a.py", "b/c.so"] {
        edits.replaced.insert(name.to_owned(), vec![1].into());
    }
    edits
        .added
        .insert("libs/l.so".to_owned(), AddedMember::executable(vec![1]));
    edits
        .added
        .insert("t.txt".to_owned(), AddedMember::plain(vec![1]));
    let out = rewritten(&bytes, &edits, &RewriteOptions::default()).unwrap();
    let archive = ZipArchive::open(&out).unwrap();
    let mode = |name: &str| archive.member(name).unwrap().unix_mode();
    let modes = ["a.py", "b/c.so", "libs/l.so", "t.txt"].map(mode);
    assert_eq!(modes, [0, 0o100_711, 0o100_755, 0o100_644]);
}

#[test]
fn times_are_kept_or_the_same_for_all_members() {
    let mut edits = WheelEdits::default();
    edits.replaced.insert("a.py".to_owned(), vec![1].into());
    edits
        .added
        .insert("new".to_owned(), AddedMember::plain(vec![1]));
    let times = |time| {
        let out = rewritten(
            &small(),
            &edits,
            &RewriteOptions {
                time,
                ..RewriteOptions::default()
            },
        )
        .unwrap();
        ZipArchive::open(&out)
            .unwrap()
            .members()
            .iter()
            .map(ZipMember::time)
            .collect::<std::collections::BTreeSet<_>>()
    };
    let one = DosTime::from_epoch_s(1_709_164_805);
    assert_eq!(
        times(None).into_iter().collect::<Vec<_>>(),
        [DosTime::FIRST]
    );
    assert_eq!(times(Some(one)).into_iter().collect::<Vec<_>>(), [one]);
}

/// A wheel with a large library changed and a large one added, written by a number of threads.
fn large(threads: usize, options: &RewriteOptions) -> (Vec<u8>, Vec<u8>, Vec<u8>) {
    let old = wheel_bytes(
        &[
            ("big.so".to_owned(), content(9 << 20, 1)),
            ("mid.so".to_owned(), content(1 << 20, 2)),
        ],
        1,
    );
    let changed = Counted {
        bytes: content((9 << 20) + 17, 3),
        largest: AtomicUsize::new(0),
    };
    let added = content(10 << 20, 4);
    let mut edits = WheelEdits::default();
    edits
        .replaced
        .insert("big.so".to_owned(), MemberContent::Source(&changed));
    edits.added.insert(
        "libs/added.so".to_owned(),
        AddedMember::executable(added.as_slice()),
    );
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap();
    let out = pool.install(|| rewritten(&old, &edits, options)).unwrap();
    assert!(
        changed.largest.into_inner() <= 1 << 20,
        "it is read in blocks"
    );
    (out, changed.bytes, added)
}

/// Other zip readers read them, too.
#[test]
fn large_members_do_not_depend_on_threads() {
    let options = RewriteOptions {
        record_check: RecordCheck::AllMembers,
        ..RewriteOptions::default()
    };
    let (out, changed, added) = large(1, &options);
    assert!(
        large(4, &options).0 == out,
        "the bytes depend on the number of threads"
    );
    assert_valid(&out);
    let mut theirs = ::zip::ZipArchive::new(Cursor::new(&out)).unwrap();
    for (name, content) in [("big.so", &changed), ("libs/added.so", &added)] {
        let mut read = Vec::new();
        theirs
            .by_name(name)
            .unwrap()
            .read_to_end(&mut read)
            .unwrap();
        assert!(read == *content, "{name}");
    }
    let archive = ZipArchive::open(&out).unwrap();
    assert!(
        archive
            .members()
            .iter()
            .all(|member| !member.has_inexact_zip64())
    );
    let big = archive.member("big.so").unwrap();
    assert!(
        big.compressed_bytes() < big.size_bytes() * 9 / 10,
        "{}",
        big.compressed_bytes()
    );
}

#[test]
fn level_0_stores_large_members_and_small_ones() {
    let (out, ..) = large(
        2,
        &RewriteOptions {
            level: 0,
            ..RewriteOptions::default()
        },
    );
    assert_valid(&out);
    let archive = ZipArchive::open(&out).unwrap();
    let is_stored =
        |name: &str| archive.member(name).unwrap().method() == CompressionMethod::Stored;
    assert!(is_stored("big.so") && is_stored("libs/added.so") && !is_stored("mid.so"));
}

#[test]
fn all_members_are_recompressed_on_request() {
    let old = wheel_bytes(
        &[
            ("big.so".to_owned(), content(9 << 20, 1)),
            ("mid.so".to_owned(), content(1 << 20, 2)),
        ],
        0,
    );
    let again = |level| {
        let options = RewriteOptions {
            level,
            unchanged: UnchangedMembers::Recompress,
            ..RewriteOptions::default()
        };
        rewritten(&old, &WheelEdits::default(), &options).unwrap()
    };
    let deflated = again(9);
    assert_valid(&deflated);
    assert!(deflated.len() < old.len() * 9 / 10);
    assert_eq!(
        Wheel::open(&deflated).unwrap().record(),
        Wheel::open(&old).unwrap().record()
    );
    let stored = again(0);
    assert_valid(&stored);
    assert!(
        ZipArchive::open(&stored)
            .unwrap()
            .members()
            .iter()
            .all(|member| member.method() == CompressionMethod::Stored)
    );
}

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
        let options = RewriteOptions {
            record_check,
            ..RewriteOptions::default()
        };
        rewritten(bytes, &WheelEdits::default(), &options)
            .map(|_| ())
            .map_err(|error| {
                let diagnostic = error.diagnostic("w.whl");
                format!("{}: {}", diagnostic.code.id, diagnostic.message)
            })
    };
    let hash = "a.py,sha256=";
    for (from, to, expect) in [
        (hash, "a.py,sha256=A", "W022: RECORD says `sha256=A"),
        (
            ",99\n",
            ",98\n",
            "W022: RECORD says `98 bytes` of `b/c.so`, and it is `99 bytes`",
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
            "W020: RECORD does not list `a.py`, so nothing vouches for it"
        );
    }
    assert_eq!(outcome(&small(), RecordCheck::AllMembers), Ok(()));
}

#[test]
fn weak_hashes_are_replaced_with_a_warning() {
    let rewritten_with = |bytes: &Vec<u8>, record_check| {
        let (wheel, mut out) = (Wheel::open(bytes).unwrap(), Vec::new());
        let options = RewriteOptions {
            record_check,
            ..RewriteOptions::default()
        };
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
            "RECORD has a hash of it that may not be used, `md5`",
        ),
        (
            "b/c.so,sha1=",
            "RECORD has a hash of it that may not be used, `sha1`",
        ),
        ("b/c.so,=", "RECORD has no hash of it"),
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
            assert_valid(
                &rewritten(
                    &bytes,
                    &edits,
                    &RewriteOptions {
                        record_check,
                        ..RewriteOptions::default()
                    },
                )
                .unwrap(),
            );
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
    let all = RewriteOptions {
        record_check: RecordCheck::AllMembers,
        ..RewriteOptions::default()
    };
    let error = rewritten(&bytes, &WheelEdits::default(), &all).unwrap_err();
    assert_eq!(
        error.to_string(),
        "RECORD says `98 bytes` of `b/c.so`, and it is `99 bytes`"
    );
}

#[test]
fn mismatches_are_found_while_members_are_written() {
    let mut files = vec![
        ("big.so".to_owned(), content(5 << 20, 1)),
        ("mid.so".to_owned(), content(1 << 20, 2)),
    ];
    let mut old = wheel_bytes(&files, 0);
    let options = RewriteOptions {
        record_check: RecordCheck::AllMembers,
        ..RewriteOptions::default()
    };
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

#[test]
fn sources_that_end_early_or_fail_are_named() {
    struct Failing(u64);
    impl ReadAt for Failing {
        fn size_bytes(&self) -> u64 {
            self.0
        }
        fn read_at(&self, buffer: &mut [u8], offset: u64) -> std::io::Result<usize> {
            let length = buffer
                .len()
                .min(100_usize.saturating_sub(usize::try_from(offset).unwrap()));
            if offset > 50 {
                Err(std::io::Error::other("the disk is gone"))
            } else {
                Ok(length)
            }
        }
    }
    for size in [200, 50 << 20] {
        let source = Failing(size);
        let mut edits = WheelEdits::default();
        edits.added.insert(
            "libs/x.so".to_owned(),
            AddedMember::executable(MemberContent::Source(&source)),
        );
        let error = rewritten(&small(), &edits, &RewriteOptions::default()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "cannot read what `libs/x.so` shall hold: the disk is gone"
        );
        assert_eq!(error.diagnostic("w.whl").code.name, "cannot-read-file");
    }
}

#[test]
fn progress_is_reported_up_to_the_end() {
    let reports = Mutex::new(Vec::new());
    let watch = |progress: ByteProgress| reports.lock().unwrap().push(progress);
    let bytes = wheel_bytes(&[("big.so".to_owned(), content(9 << 20, 1))], 1);
    let wheel = Wheel::open(&bytes).unwrap();
    let mut edits = WheelEdits::default();
    let new = content(10 << 20, 2);
    edits
        .replaced
        .insert("big.so".to_owned(), MemberContent::from(new.as_slice()));
    let options = RewriteOptions::default();
    let rewriter = WheelRewriter {
        wheel: &wheel,
        edits: &edits,
        options: &options,
    };
    rewriter.write(&mut Vec::new(), &watch).unwrap();
    let rewriting = std::mem::take(&mut *reports.lock().unwrap());
    assert!(verify_with_progress(&bytes, &NAME.parse().unwrap(), &watch).is_empty());
    for reports in [rewriting, reports.into_inner().unwrap()] {
        assert!(reports.len() > 10, "{}", reports.len());
        assert!(
            reports
                .iter()
                .all(|report| report.total_bytes == reports[0].total_bytes)
        );
        assert_eq!(
            reports.iter().map(|report| report.done_bytes).max(),
            Some(reports[0].total_bytes)
        );
    }
}

/// Zeros.
struct Zeros(u64);

impl ReadAt for Zeros {
    fn size_bytes(&self) -> u64 {
        self.0
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> std::io::Result<usize> {
        let length = usize::try_from(self.0.saturating_sub(offset))
            .unwrap_or(usize::MAX)
            .min(buffer.len());
        buffer[..length].fill(0);
        Ok(length)
    }
}

#[test]
#[ignore = "reads 5 GiB three times, which takes a minute without optimization"]
fn a_content_of_5_gib_goes_through_a_few_megabytes_of_memory() {
    let zeros = Zeros(5 << 30);
    let mut edits = WheelEdits::default();
    edits.added.insert(
        "libs/big.so".to_owned(),
        AddedMember::executable(MemberContent::Source(&zeros)),
    );
    edits.added.insert(
        "libs/last.so".to_owned(),
        AddedMember::executable(vec![7; 100]),
    );
    let out = rewritten(&small(), &edits, &RewriteOptions::default()).unwrap();
    let archive = ZipArchive::open(&out).unwrap();
    let big = archive.member("libs/big.so").unwrap();
    assert_eq!(
        (big.size_bytes(), big.has_inexact_zip64()),
        (5 << 30, false)
    );
    assert!(
        big.compressed_bytes() < 20 << 20,
        "{}",
        big.compressed_bytes()
    );
    let mut theirs = ::zip::ZipArchive::new(Cursor::new(&out)).unwrap();
    assert_eq!(theirs.by_name("libs/big.so").unwrap().size(), 5 << 30);
    // Zeros compress so well that PyPI would refuse the wheel.
    let codes: Vec<&str> = verify(&out, &NAME.parse::<WheelName>().unwrap())
        .iter()
        .map(|error| error.code.id)
        .collect();
    assert_eq!(codes, ["W115"]);
}

/// All other members are read again.
#[test]
fn copied_members_are_recognized_under_any_name() {
    let old = small();
    let mut edits = WheelEdits::default();
    edits
        .replaced
        .insert("a.py".to_owned(), b"y = 2\n".to_vec().into());
    edits
        .renamed
        .insert("b/c.so".to_owned(), "d/c.so".to_owned());
    edits
        .added
        .insert("e.so".to_owned(), AddedMember::executable(vec![5; 50]));
    let mut new = rewritten(&old, &edits, &RewriteOptions::default()).unwrap();
    assert_valid(&new);
    let name: WheelName = NAME.parse().unwrap();
    {
        let (before, after) = (Wheel::open(&old).unwrap(), Wheel::open(&new).unwrap());
        let carried = CopiedMembers::new(&before, &after);
        let known: Vec<&str> = after
            .archive()
            .members()
            .iter()
            .filter(|member| carried.contains(member))
            .map(ZipMember::name)
            .collect();
        assert_eq!(
            known,
            [
                "d/c.so",
                &format!("{DIST_INFO}/METADATA"),
                &format!("{DIST_INFO}/WHEEL")
            ]
        );
        assert_eq!(
            verify_except(&after, &name, &|member| carried.contains(member)),
            []
        );
    }
    // The data of the replaced member, after its local header.
    let at = new.windows(4).position(|bytes| bytes == b"a.py").unwrap() + 5;
    new[at] ^= 1;
    let (before, after) = (Wheel::open(&old).unwrap(), Wheel::open(&new).unwrap());
    let carried = CopiedMembers::new(&before, &after);
    assert_eq!(
        verify_except(&after, &name, &|member| carried.contains(member)).len(),
        1
    );
    assert_eq!(verify_except(&after, &name, &|_| true), []);
}
