use proptest::prelude::*;

use super::super::{MemberContent, MemberOptions, ZipArchive, ZipEntry, ZipWriter, write_entries};
use super::*;

/// Bytes that compress as libraries do: noise, repetitions from before, and runs.
fn content(seeds: &[(u64, u8)]) -> Vec<u8> {
    let mut content: Vec<u8> = Vec::new();
    for (seed, kind) in seeds {
        let mut state = *seed | 1;
        for _ in 0..700 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let length = (state >> 20) as usize % 60 + 1;
            let back = (state >> 30) as usize % 32_768 + 1;
            match kind % 4 {
                0 => content.extend(state.to_le_bytes()),
                1 if back < content.len() => {
                    let from = content.len() - back;
                    (0..length).for_each(|at| content.push(content[from + at]));
                }
                2 => content.resize(content.len() + length, 0),
                _ => content.extend(state.to_le_bytes().map(|byte| byte & 15)),
            }
        }
    }
    content
}

fn archive_of(content: &[u8], level: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = ZipWriter::new(&mut bytes);
    writer
        .add(
            "lib.so",
            content,
            &MemberOptions {
                level,
                ..MemberOptions::default()
            },
        )
        .unwrap();
    writer.finish().unwrap();
    bytes
}

/// The archive with the new content, spliced from the old one.
fn spliced(
    archive: &[u8],
    new: &Vec<u8>,
    changed_ranges: Vec<Range<u64>>,
    kept_bytes: u64,
) -> Vec<u8> {
    let archive = &archive.to_vec();
    let old = ZipArchive::open(archive).unwrap();
    let changed = ChangedContent {
        archive: &old,
        member: &old.members()[0],
        source: new,
        changed_ranges,
        kept_bytes,
    };
    let entry = ZipEntry::New {
        name: "lib.so".into(),
        content: MemberContent::Changed(changed),
        options: MemberOptions {
            level: 6,
            ..MemberOptions::default()
        },
    };
    let mut bytes = Vec::new();
    let mut writer = ZipWriter::new(&mut bytes);
    write_entries(&mut writer, std::iter::once(entry), |_| {}).unwrap();
    writer.finish().unwrap();
    bytes
}

fn read(archive: &[u8]) -> Vec<u8> {
    let bytes = archive.to_vec();
    let archive = ZipArchive::open(&bytes).unwrap();
    archive.read(&archive.members()[0], 1 << 30).unwrap()
}

#[test]
fn unchanged_blocks_are_copied() {
    let old = content(
        &(1..200_u8)
            .map(|seed| (seed.into(), seed))
            .collect::<Vec<_>>(),
    );
    let archive = archive_of(&old, 6);
    let mut new = old.clone();
    let middle = new.len() / 2;
    new[middle] ^= 0xff;
    new.extend_from_slice(&[7; 10_000]);
    let start = middle as u64;
    let changed_ranges: Vec<Range<u64>> = std::iter::once(start..start + 1).collect();
    let kept_bytes = old.len() as u64;
    let opened = ZipArchive::open(&archive).unwrap();
    let parts = plan_splice(&ChangedContent {
        archive: &opened,
        member: &opened.members()[0],
        source: &new,
        changed_ranges: changed_ranges.clone(),
        kept_bytes,
    })
    .unwrap();
    let copied: u64 = parts
        .iter()
        .map(|part| match part {
            SplicePart::Copied { content_bytes, .. } => *content_bytes,
            SplicePart::New { .. } => 0,
        })
        .sum();
    assert!(copied > kept_bytes * 3 / 4, "{copied} of {kept_bytes}");
    let spliced = spliced(&archive, &new, changed_ranges, kept_bytes);
    assert!(read(&spliced) == new);
    assert!(spliced.len() < archive.len() + archive.len() / 50 + 1000);
}

#[test]
fn damaged_data_has_no_index() {
    let old = content(&[(3, 1), (4, 0), (5, 3)]);
    let archive = archive_of(&old, 6);
    // After the local header, before the central one and the EOCD.
    let offsets = 36..archive.len() - 74;
    let data = offsets.start as u64..offsets.end as u64;
    for at in offsets.step_by(7) {
        let mut damaged = archive.clone();
        damaged[at] ^= 1 << (at % 8);
        // Some damage cannot be detected, but the scan ends.
        let _ = BlockIndex::read(&damaged, data.clone(), old.len() as u64).unwrap();
    }
    assert_eq!(
        BlockIndex::read(&archive, data.start..data.end - 1, old.len() as u64).unwrap(),
        None
    );
    assert_eq!(
        BlockIndex::read(&archive, data, old.len() as u64 + 1).unwrap(),
        None
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn spliced_data_inflates_to_the_new_content(
        seeds in proptest::collection::vec((any::<u64>(), any::<u8>()), 12..60),
        level in 0..10_u32,
        places in proptest::collection::vec((0..1000_usize, 1..40_usize), 0..6),
        kept in prop_oneof![Just(1000), 0..1000_usize],
        tail in 0..300_000_usize,
    ) {
        let old = content(&seeds);
        let archive = archive_of(&old, level);
        let kept = old.len() * kept / 1000;
        let mut new = old[..kept].to_vec();
        let mut starts: Vec<(usize, usize)> =
            places.iter().map(|(at, length)| (kept * at / 1000, *length)).collect();
        starts.sort_unstable();
        let mut ranges: Vec<Range<u64>> = Vec::new();
        for (start, length) in starts {
            let end = (start + length).min(kept);
            if start < end && ranges.last().is_none_or(|last| last.end <= start as u64) {
                new[start..end].iter_mut().for_each(|byte| *byte = byte.wrapping_add(1));
                ranges.push(start as u64..end as u64);
            }
        }
        new.extend((0..tail).map(|at| (at / 97).to_le_bytes()[0]));
        prop_assume!(!new.is_empty());
        prop_assert!(read(&spliced(&archive, &new, ranges, kept as u64)) == new);
    }
}
