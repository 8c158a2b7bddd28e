//! Tar archives, and listings of the buckets that they are fetched from.

use std::fmt::Write as _;
use std::io::{self, Read};

use rock_matrix::archive::limits::{MAX_MEMBERS, MAX_PATH_BYTES};
use rock_matrix::archive::{ArchiveError, Unpacked, UnpackedKind, each_member};
use rock_matrix::sdk::bucket::{Page, page};
use rock_matrix::sdk::limits::MAX_FILES;

/// Tar: each member begins behind the one before it, holds what the archive has there, and keeps to the limits.
pub fn tar(bytes: &[u8]) {
    let length = bytes.len() as u64;
    let (mut end, mut members) = (0, 0);
    let read = each_member(bytes, |member: Unpacked, content: &mut dyn Read| {
        members += 1;
        assert!(member.start >= end + 512 && member.start % 512 == 0 && member.start <= length);
        let mut held = Vec::new();
        content.read_to_end(&mut held)?;
        let start = usize::try_from(member.start).expect("it is in the input");
        assert_eq!(held, bytes[start..start + held.len()]);
        end = member.start + held.len() as u64;
        assert!(member.path.is_none_or(|path| path.len() <= MAX_PATH_BYTES && !path.contains('\0')));
        match member.kind {
            // One that is cut off is noticed behind it.
            UnpackedKind::File { size_bytes, mode } => {
                assert!(held.len() as u64 == size_bytes.min(length - member.start) && mode <= 0o7777);
            }
            UnpackedKind::Link(text) | UnpackedKind::Again(text) => {
                assert!(text.len() <= MAX_PATH_BYTES && held.is_empty());
            }
            UnpackedKind::Folder => assert!(held.is_empty()),
            UnpackedKind::Other(what) => assert!(!what.is_empty()),
        }
        Ok::<(), io::Error>(())
    });
    assert!(members <= MAX_MEMBERS);
    if let Err(error) = read
        && let Some(ArchiveError::Malformed { offset, .. }) = ArchiveError::of(&error)
    {
        assert!(*offset <= length);
    }
}

/// Listings: what was read reads the same when it was written.
pub fn bucket(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let listed = match page(text) {
        Ok(listed) => listed,
        Err(why) => return assert!(!why.is_empty()),
    };
    assert!(listed.objects.len() <= MAX_FILES);
    assert!(listed.objects.iter().all(|(key, _)| !key.contains(char::is_control)));
    assert_eq!(page(&written(&listed)), Ok(listed));
}

fn written(listed: &Page) -> String {
    let mut xml = String::from("<ListBucketResult>");
    for (key, size_bytes) in &listed.objects {
        let _ = write!(xml, "<Contents><Key>{}</Key><Size>{size_bytes}</Size></Contents>", escaped(key));
    }
    if let Some(next) = &listed.next {
        let _ = write!(xml, "<NextContinuationToken>{}</NextContinuationToken>", escaped(next));
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
