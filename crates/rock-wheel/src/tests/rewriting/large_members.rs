//! Large members, threads, progress and recompression.

use super::*;

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
    let options = checking(RecordCheck::AllMembers);
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
        let error = rewritten_small(&edits).unwrap_err();
        assert_eq!(
            error.to_string(),
            "cannot read the new content of `libs/x.so`: the disk is gone"
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
#[ignore = "reads more than 4 GiB three times, which takes a minute without optimization"]
fn a_content_of_more_than_4_gib_goes_through_a_few_megabytes_of_memory() {
    let size_bytes = (4 << 30) + 1;
    let zeros = Zeros(size_bytes);
    let mut edits = WheelEdits::default();
    edits.added.insert(
        "libs/big.so".to_owned(),
        AddedMember::executable(MemberContent::Source(&zeros)),
    );
    edits.added.insert(
        "libs/last.so".to_owned(),
        AddedMember::executable(vec![7; 100]),
    );
    let out = rewritten_small(&edits).unwrap();
    let archive = ZipArchive::open(&out).unwrap();
    let big = archive.member("libs/big.so").unwrap();
    assert_eq!(
        (big.size_bytes(), big.has_inexact_zip64()),
        (size_bytes, false)
    );
    assert!(
        big.compressed_bytes() < 20 << 20,
        "{}",
        big.compressed_bytes()
    );
    let mut theirs = ::zip::ZipArchive::new(Cursor::new(&out)).unwrap();
    assert_eq!(theirs.by_name("libs/big.so").unwrap().size(), size_bytes);
    // Zeros compress so well that PyPI would refuse the wheel.
    let codes: Vec<&str> = verify(&out, &NAME.parse::<WheelName>().unwrap())
        .iter()
        .map(|error| error.code.id)
        .collect();
    assert_eq!(codes, ["W115"]);
}
