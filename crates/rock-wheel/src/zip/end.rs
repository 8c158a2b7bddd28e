//! The end of an archive: where its central directory lies.

use super::super::WheelError;
use super::bytes::{u16_at, u32_at, u64_at};
use super::policy::{Rule, Violation, check_comment};
use super::{FULL_16, FULL_32};
use rock_bytes::ReadAt;

/// The end record without its comment (APPNOTE 4.3.16).
const END_BYTES: usize = 22;
const END_SIGNATURE: u32 = 0x0605_4b50;
/// APPNOTE 4.3.15.
const LOCATOR_BYTES: usize = 20;
const LOCATOR_SIGNATURE: u32 = 0x0706_4b50;
/// APPNOTE 4.3.14.
const END64_BYTES: usize = 56;
const END64_SIGNATURE: u32 = 0x0606_4b50;

/// What the end of an archive says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct End {
    /// Where the central directory begins.
    pub(super) offset: u64,
    /// How long it is.
    pub(super) length: u64,
    /// How many members it lists.
    pub(super) count: u64,
    /// The comment of the archive.
    pub(super) comment: Vec<u8>,
}

/// Finds and reads the end record, and the ZIP64 one where there is one.
pub(super) fn read_end(source: &dyn ReadAt) -> Result<End, WheelError> {
    let size = source.size_bytes();
    let tail_length = size.min((END_BYTES + usize::from(u16::MAX) + LOCATOR_BYTES) as u64);
    let tail_offset = size - tail_length;
    let mut tail = vec![0; usize::try_from(tail_length).expect("less than 70,000")];
    source
        .read_exact_at(&mut tail, tail_offset)
        .map_err(WheelError::Read)?;
    let at = (0..=tail.len().saturating_sub(END_BYTES))
        .rev()
        .find(|&at| {
            let found = tail.get(at..at + END_BYTES);
            found.is_some_and(|end| {
                u32_at(end, 0) == END_SIGNATURE
                    && at + END_BYTES + usize::from(u16_at(end, 20)) == tail.len()
            })
        })
        .ok_or(WheelError::NotAZip(if size == 0 {
            "it is empty"
        } else {
            "it does not end with a table of contents"
        }))?;
    let end = &tail[at..];
    let narrow = Narrow::read(end);
    let comment = end[END_BYTES..].to_vec();
    let position = tail_offset + at as u64;
    check_comment(&comment, position + END_BYTES as u64)?;
    let locator = at.checked_sub(LOCATOR_BYTES).map(|from| &tail[from..at]);
    let (found, directory_end) = match locator.filter(|bytes| u32_at(bytes, 0) == LOCATOR_SIGNATURE)
    {
        None => (narrow.alone()?, position),
        Some(locator) => {
            let (wide, at) = read_end64(source, locator, position - LOCATOR_BYTES as u64)?;
            narrow.check(&wide, position)?;
            (wide, at)
        }
    };
    if found.offset.checked_add(found.length) != Some(directory_end) {
        let reason = format!(
            "the table of contents is said to be {} bytes from byte {} on, and does not end where it should, at byte {directory_end}",
            found.length, found.offset
        );
        return Err(WheelError::Damaged {
            offset: position,
            reason,
        });
    }
    Ok(End { comment, ..found })
}

/// The numbers of the ordinary end record.
struct Narrow {
    disks: [u16; 2],
    counts: [u16; 2],
    length: u32,
    offset: u32,
}

impl Narrow {
    fn read(end: &[u8]) -> Self {
        Self {
            disks: [u16_at(end, 4), u16_at(end, 6)],
            counts: [u16_at(end, 8), u16_at(end, 10)],
            length: u32_at(end, 12),
            offset: u32_at(end, 16),
        }
    }

    /// The end of an archive without ZIP64 record.
    fn alone(&self) -> Result<End, WheelError> {
        if self.disks != [0, 0] || self.counts[0] != self.counts[1] {
            return Err(WheelError::MultiDisk);
        }
        Ok(End {
            offset: self.offset.into(),
            length: self.length.into(),
            count: self.counts[1].into(),
            comment: Vec::new(),
        })
    }

    /// Both records must say the same wherever this one has room for it.
    fn check(&self, wide: &End, position: u64) -> Result<(), WheelError> {
        if self.disks.iter().any(|disk| *disk != 0 && *disk != FULL_16) {
            return Err(WheelError::MultiDisk);
        }
        let same = |narrow: u64, full: u64, wide: u64| narrow == full || narrow == wide;
        let full_32 = u64::from(FULL_32);
        if self
            .counts
            .iter()
            .all(|count| same((*count).into(), FULL_16.into(), wide.count))
            && same(self.length.into(), full_32, wide.length)
            && same(self.offset.into(), full_32, wide.offset)
        {
            return Ok(());
        }
        let reason = "its numbers contradict the ZIP64 record".to_owned();
        Err(WheelError::Damaged {
            offset: position,
            reason,
        })
    }
}

fn read_end64(
    source: &dyn ReadAt,
    locator: &[u8],
    locator_at: u64,
) -> Result<(End, u64), WheelError> {
    let at = u64_at(locator, 8);
    if u32_at(locator, 4) != 0 || u32_at(locator, 16) > 1 {
        return Err(WheelError::MultiDisk);
    }
    let damaged = |reason: &str| WheelError::Damaged {
        offset: at,
        reason: reason.to_owned(),
    };
    if at
        .checked_add(END64_BYTES as u64)
        .is_none_or(|end| end > locator_at)
    {
        return Err(damaged(
            "the ZIP64 record is said to be here, behind its end",
        ));
    }
    let mut record = [0; END64_BYTES];
    source
        .read_exact_at(&mut record, at)
        .map_err(WheelError::Read)?;
    if u32_at(&record, 0) != END64_SIGNATURE {
        return Err(damaged("there is no ZIP64 record"));
    }
    if u64_at(&record, 4)
        .checked_add(12)
        .and_then(|length| at.checked_add(length))
        != Some(locator_at)
    {
        return Err(damaged(
            "the ZIP64 record does not end where its locator begins",
        ));
    }
    // uv: `ExtensibleData`; PyPI: "ZIP64 extensible data not allowed".
    if u64_at(&record, 4) != END64_BYTES as u64 - 12 {
        let reason = format!(
            "the ZIP64 end record, at byte {at}, has {} bytes of extensions",
            locator_at - at - END64_BYTES as u64
        );
        return Err(Violation {
            rule: Rule::Zip64Extension,
            member: None,
            offset: at,
            reason,
        }
        .into());
    }
    if u32_at(&record, 16) != 0
        || u32_at(&record, 20) != 0
        || u64_at(&record, 24) != u64_at(&record, 32)
    {
        return Err(WheelError::MultiDisk);
    }
    let end = End {
        count: u64_at(&record, 32),
        length: u64_at(&record, 40),
        offset: u64_at(&record, 48),
        comment: Vec::new(),
    };
    Ok((end, at))
}
