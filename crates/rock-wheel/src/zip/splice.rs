//! Deflated data of a content of which little changed: blocks that tell the same as before are
//! copied bit by bit.

use std::io;
use std::ops::Range;

use super::deflate::WINDOW_BYTES;
use super::stretches::BlockIndex;
use rock_bytes::{PIECE_BYTES, ReadAt};

/// A part of new data, in order; what follows begins where it ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SplicePart {
    /// Blocks of the old data: their bits, and how much they inflate to.
    Copied(Range<u64>, u64),
    /// So many bytes of the content, deflated anew.
    New(u64),
}

impl SplicePart {
    /// How much it inflates to.
    pub(super) fn content_bytes(&self) -> u64 {
        match self {
            Self::Copied(_, bytes) | Self::New(bytes) => *bytes,
        }
    }

    /// What is left of it after so much of the content; all its bits come first.
    pub(super) fn without(self, content_bytes: u64) -> Option<Self> {
        match self {
            Self::Copied(bits, bytes) if bytes > content_bytes => {
                Some(Self::Copied(bits.end..bits.end, bytes - content_bytes))
            }
            Self::New(bytes) if bytes > content_bytes => Some(Self::New(bytes - content_bytes)),
            _ => None,
        }
    }
}

/// How the new data is put together. `changed` are the places in the old content that differ in the
/// new one, sorted; from `kept_bytes` on all differs. The last part is always a new one, which ends
/// the data.
pub(super) fn parts(
    old: &BlockIndex,
    changed: &[Range<u64>],
    kept_bytes: u64,
    size_bytes: u64,
) -> Vec<SplicePart> {
    let mut parts = Vec::new();
    let mut told = 0;
    for stretch in &old.runs {
        let content = &stretch.content;
        if content.end > kept_bytes.min(size_bytes) {
            break;
        }
        // A block may repeat what stands before it, as far back as the window reaches.
        let from = content.start.saturating_sub(WINDOW_BYTES as u64);
        let next = changed.partition_point(|range| range.end <= from);
        let is_changed = changed
            .get(next)
            .is_some_and(|range| range.start < content.end);
        // Stored blocks depend on where they lie in a byte, and are as quickly made.
        if is_changed || stretch.is_stored {
            continue;
        }
        if content.start > told {
            parts.push(SplicePart::New(content.start - told));
        }
        match parts.last_mut() {
            Some(SplicePart::Copied(bits, bytes)) if bits.end == stretch.bits.start => {
                bits.end = stretch.bits.end;
                *bytes += content.end - content.start;
            }
            _ => parts.push(SplicePart::Copied(
                stretch.bits.clone(),
                content.end - content.start,
            )),
        }
        told = content.end;
    }
    parts.push(SplicePart::New(size_bytes - told));
    parts
}

/// Bits that wait for those that fill their byte.
#[derive(Debug, Default)]
pub(super) struct BitBuffer {
    held: u64,
    count: u32,
}

/// An empty block that is not compressed, from its length on (RFC 1951, 3.2.4).
const EMPTY_BLOCK: [u8; 4] = [0, 0, 0xff, 0xff];

impl BitBuffer {
    /// The bytes that lead to a whole byte: none, or an empty block.
    pub(super) fn align(&mut self) -> Vec<u8> {
        if self.count == 0 {
            return Vec::new();
        }
        let bytes = (self.count + 3).div_ceil(8) as usize;
        let led = [&self.held.to_le_bytes()[..bytes], &EMPTY_BLOCK].concat();
        *self = Self::default();
        led
    }

    /// Copies bits of data that lies from `offset` on, and clears the one at `cleared`.
    ///
    /// # Errors
    /// What `write` answers, and when the data cannot be read.
    pub(super) fn copy<E>(
        &mut self,
        source: &dyn ReadAt,
        offset: u64,
        bits: Range<u64>,
        cleared: u64,
        mut write: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), CopyError<E>> {
        let mut position = bits.start;
        let (mut piece, mut made) = (Vec::new(), Vec::new());
        while position < bits.end {
            let first = position / 8;
            let length = (bits.end.div_ceil(8) - first).min(PIECE_BYTES as u64);
            piece.resize(usize::try_from(length).unwrap_or(PIECE_BYTES), 0);
            source
                .read_exact_at(&mut piece, offset + first)
                .map_err(CopyError::Read)?;
            let mark = (cleared / 8)
                .checked_sub(first)
                .and_then(|at| piece.get_mut(usize::try_from(at).ok()?));
            if let Some(byte) = mark {
                *byte &= !(1 << (cleared % 8));
            }
            let end = bits.end.min((first + length) * 8);
            self.add(&piece, position - first * 8..end - first * 8, &mut made);
            write(&made).map_err(CopyError::Write)?;
            made.clear();
            position = end;
        }
        Ok(())
    }

    /// Adds bits of some bytes; whole bytes come out.
    fn add(&mut self, bytes: &[u8], bits: Range<u64>, made: &mut Vec<u8>) {
        let place = |bit: u64| usize::try_from(bit / 8).unwrap_or(usize::MAX);
        let bit = |bit: u64| u32::try_from(bit % 8).unwrap_or(0);
        let (first, last, skipped) = (place(bits.start), place(bits.end), bit(bits.start));
        let mut at = first;
        if skipped > 0 && first < bytes.len() {
            let end = if last == first { bit(bits.end) } else { 8 };
            self.push(u64::from(bytes[first]) >> skipped, end - skipped, made);
            at += 1;
        }
        let whole = bytes.get(at..last).unwrap_or_default();
        let mut words = whole.chunks_exact(4);
        for word in &mut words {
            self.push(
                u64::from(u32::from_le_bytes(word.try_into().expect("they are four"))),
                32,
                made,
            );
        }
        for byte in words.remainder() {
            self.push(u64::from(*byte), 8, made);
        }
        let rest = bit(bits.end);
        if rest > 0 && last >= at {
            self.push(u64::from(bytes[last]), rest, made);
        }
    }

    /// Adds up to 32 bits.
    fn push(&mut self, bits: u64, count: u32, made: &mut Vec<u8>) {
        self.held |= (bits & ((1 << count) - 1)) << self.count;
        self.count += count;
        let bytes = self.count / 8;
        made.extend_from_slice(&self.held.to_le_bytes()[..bytes as usize]);
        self.held = self.held.checked_shr(bytes * 8).unwrap_or(0);
        self.count %= 8;
    }
}

/// Why bits were not copied.
#[derive(Debug)]
pub(super) enum CopyError<E> {
    /// The old data cannot be read.
    Read(io::Error),
    /// The new data cannot be written.
    Write(E),
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::stretches::stretches;
    use super::super::{
        ChangedContent, MemberContent, MemberOptions, ZipArchive, ZipEntry, ZipWriter,
        write_entries,
    };
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

    /// The archive with the new content, made out of the old one.
    fn changed(archive: &[u8], new: &Vec<u8>, places: Vec<Range<u64>>, kept_bytes: u64) -> Vec<u8> {
        let archive = &archive.to_vec();
        let old = ZipArchive::open(archive).unwrap();
        let change = ChangedContent {
            archive: &old,
            member: &old.members()[0],
            source: new,
            changed_ranges: places,
            kept_bytes,
        };
        let entry = ZipEntry::New {
            name: "lib.so".into(),
            content: MemberContent::Changed(change),
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
    fn what_did_not_change_keeps_its_bits() {
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
        let place = middle as u64..middle as u64 + 1;
        let parts = {
            let opened = ZipArchive::open(&archive).unwrap();
            let member = &opened.members()[0];
            let data = member.data_offset..member.data_offset + member.compressed_bytes;
            let stretches = stretches(&archive, data, member.size_bytes)
                .unwrap()
                .expect("it is sound");
            parts(
                &stretches,
                std::slice::from_ref(&place),
                old.len() as u64,
                new.len() as u64,
            )
        };
        let copied: u64 = parts
            .iter()
            .map(|part| {
                if let SplicePart::Copied(_, bytes) = part {
                    *bytes
                } else {
                    0
                }
            })
            .sum();
        assert!(
            copied > old.len() as u64 * 3 / 4,
            "{copied} of {}",
            old.len()
        );
        let spliced = changed(&archive, &new, vec![place], old.len() as u64);
        assert!(read(&spliced) == new);
        assert!(spliced.len() < archive.len() + archive.len() / 50 + 1000);
    }

    #[test]
    fn damaged_data_is_made_anew_as_a_whole() {
        let old = content(&[(3, 1), (4, 0), (5, 3)]);
        let archive = archive_of(&old, 6);
        // Behind the local header, before the central one and the end record.
        let places = 36..archive.len() - 74;
        let data = places.start as u64..places.end as u64;
        for at in places.step_by(7) {
            let mut damaged = archive.clone();
            damaged[at] ^= 1 << (at % 8);
            // Whatever it finds, it ends.
            let _ = stretches(&damaged, data.clone(), old.len() as u64).unwrap();
        }
        assert_eq!(
            stretches(&archive, data.start..data.end - 1, old.len() as u64).unwrap(),
            None
        );
        assert_eq!(
            stretches(&archive, data, old.len() as u64 + 1).unwrap(),
            None
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn changed_contents_inflate_to_what_they_are_now(
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
            prop_assert!(read(&changed(&archive, &new, ranges, kept as u64)) == new);
        }
    }
}
