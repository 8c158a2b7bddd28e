//! Tar archives, those that are published beside wheels, and listings of the buckets that they are
//! fetched from.

use std::fmt::Write as _;
use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use rock_matrix::archive::limits::{MAX_MEMBERS, MAX_PATH_BYTES};
use rock_matrix::archive::{ArchiveError, ParsedMember, ParsedMemberKind, for_each_member};
use rock_matrix::sdk::bucket::{BucketPage, page};
use rock_matrix::sdk::limits::MAX_FILES;
use rock_matrix::wheel::{verify_source_distribution, verify_tree_archive};

/// Tar: each member begins behind the one before it, holds what the archive has there, and keeps to
/// the limits.
pub fn tar(bytes: &[u8]) {
    let length = bytes.len() as u64;
    let (mut end, mut members) = (0, 0);
    let read = for_each_member(bytes, |member: ParsedMember, content: &mut dyn Read| {
        members += 1;
        assert!(
            member.content_offset >= end + 512
                && member.content_offset % 512 == 0
                && member.content_offset <= length
        );
        let mut held = Vec::new();
        content.read_to_end(&mut held)?;
        let start = usize::try_from(member.content_offset).expect("it is in the input");
        assert_eq!(held, bytes[start..start + held.len()]);
        end = member.content_offset + held.len() as u64;
        assert!(
            member
                .path
                .is_none_or(|path| path.len() <= MAX_PATH_BYTES && !path.contains('\0'))
        );
        match member.kind {
            // One that is cut off is noticed behind it.
            ParsedMemberKind::File { size_bytes, mode } => {
                assert!(
                    held.len() as u64 == size_bytes.min(length - member.content_offset)
                        && mode <= 0o7777
                );
            }
            ParsedMemberKind::Symlink(text) | ParsedMemberKind::HardLink(text) => {
                assert!(text.len() <= MAX_PATH_BYTES && held.is_empty());
            }
            ParsedMemberKind::Directory => assert!(held.is_empty()),
            ParsedMemberKind::Unsupported(what) => assert!(!what.is_empty()),
        }
        Ok::<(), io::Error>(())
    });
    assert!(members <= MAX_MEMBERS);
    source_archive(bytes, read.is_ok() && members > 0);
    if let Err(error) = read
        && let Some(ArchiveError::Malformed { offset, .. }) = ArchiveError::find_in(&error)
    {
        assert!(*offset <= length);
    }
}

/// Archives beside wheels: one that cannot be unpacked is damaged, and one without findings unpacks
/// below its folder.
fn source_archive(tar: &[u8], is_complete: bool) {
    let mut packed = GzEncoder::new(Vec::new(), Compression::none());
    packed.write_all(tar).expect("memory takes all");
    let packed = packed.finish().expect("memory takes all");
    let findings = verify_tree_archive(packed.as_slice(), "a.tar.gz").expect("memory can be read");
    assert!(
        is_complete
            || findings
                .iter()
                .any(|finding| finding.code.name == "damaged-archive")
    );
    if findings.is_empty() {
        let read = for_each_member(tar, |member: ParsedMember, _: &mut dyn Read| {
            let path = member.path.expect("names that are not UTF-8 are refused");
            assert!(
                !path.starts_with('/') && path.split('/').all(|part| part != ".."),
                "{path:?}"
            );
            assert!(!matches!(member.kind, ParsedMemberKind::Unsupported(_)));
            Ok::<(), io::Error>(())
        });
        assert!(read.is_ok());
    }
    let (project, version) = (
        "a".parse().expect("a project"),
        "1.0".parse().expect("a version"),
    );
    let of_distribution =
        verify_source_distribution(packed.as_slice(), "a-1.0.tar.gz", &project, &version);
    assert!(of_distribution.expect("memory can be read").len() >= findings.len());
}

/// Listings: what was read reads the same when it was written.
pub fn bucket(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let listed = match page(text) {
        Ok(listed) => listed,
        Err(why) => return assert!(!why.is_empty()),
    };
    assert!(listed.objects.len() <= MAX_FILES);
    assert!(
        listed
            .objects
            .iter()
            .all(|(key, _)| !key.contains(char::is_control))
    );
    assert_eq!(page(&written(&listed)), Ok(listed));
}

fn written(listed: &BucketPage) -> String {
    let mut xml = String::from("<ListBucketResult>");
    for (key, size_bytes) in &listed.objects {
        let _ = write!(
            xml,
            "<Contents><Key>{}</Key><Size>{size_bytes}</Size></Contents>",
            escaped(key)
        );
    }
    if let Some(next) = &listed.next {
        let _ = write!(
            xml,
            "<NextContinuationToken>{}</NextContinuationToken>",
            escaped(next)
        );
    }
    xml + "</ListBucketResult>"
}

fn escaped(text: &str) -> String {
    let each = text.chars().map(|character| match character {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '/' => character.to_string(),
        _ => format!("&#{};", u32::from(character)),
    });
    each.collect()
}
