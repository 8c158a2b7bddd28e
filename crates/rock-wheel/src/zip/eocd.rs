//! The end of central directory record (EOCD), and the location of the central directory.

use super::super::WheelError;
use super::archive_rules::{ArchiveRule, ArchiveViolation, check_comment};
use super::fields::{u16_at, u32_at, u64_at};
use super::{FULL_16, FULL_32};
use rock_bytes::ReadAt;

/// Size of the EOCD without comment (APPNOTE 4.3.16).
const EOCD_BYTES: usize = 22;
const EOCD_SIGNATURE: u32 = 0x0605_4b50;
/// Size of the zip64 EOCD locator (APPNOTE 4.3.15).
const LOCATOR_BYTES: usize = 20;
const LOCATOR_SIGNATURE: u32 = 0x0706_4b50;
/// Size of the zip64 EOCD without extensible data (APPNOTE 4.3.14).
const ZIP64_EOCD_BYTES: usize = 56;
const ZIP64_EOCD_SIGNATURE: u32 = 0x0606_4b50;

/// The location of the central directory, and the archive comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CentralDirectory {
    /// Offset in the archive.
    pub(super) offset: u64,
    /// Length in bytes.
    pub(super) length: u64,
    /// Number of members.
    pub(super) count: u64,
    /// Comment of the archive.
    pub(super) comment: Vec<u8>,
}

/// Finds and reads the EOCD, and the zip64 EOCD if there is one.
pub(super) fn read_eocd(source: &dyn ReadAt) -> Result<CentralDirectory, WheelError> {
    let size = source.size_bytes();
    let tail_length = size.min((EOCD_BYTES + usize::from(u16::MAX) + LOCATOR_BYTES) as u64);
    let tail_offset = size - tail_length;
    let mut tail = vec![0; usize::try_from(tail_length).expect("less than 70,000")];
    source
        .read_exact_at(&mut tail, tail_offset)
        .map_err(WheelError::Read)?;
    let at = (0..=tail.len().saturating_sub(EOCD_BYTES))
        .rev()
        .find(|&at| {
            let found = tail.get(at..at + EOCD_BYTES);
            found.is_some_and(|end| {
                u32_at(end, 0) == EOCD_SIGNATURE
                    && at + EOCD_BYTES + usize::from(u16_at(end, 20)) == tail.len()
            })
        })
        .ok_or(WheelError::NotAZip(if size == 0 {
            "it is empty"
        } else {
            "it does not end with a central directory"
        }))?;
    let end = &tail[at..];
    let eocd = Eocd::read(end);
    let comment = end[EOCD_BYTES..].to_vec();
    let position = tail_offset + at as u64;
    check_comment(&comment, position + EOCD_BYTES as u64)?;
    let locator = at.checked_sub(LOCATOR_BYTES).map(|from| &tail[from..at]);
    let (found, directory_end) = match locator.filter(|bytes| u32_at(bytes, 0) == LOCATOR_SIGNATURE)
    {
        None => (eocd.without_zip64()?, position),
        Some(locator) => {
            let (zip64, at) = read_zip64_eocd(source, locator, position - LOCATOR_BYTES as u64)?;
            eocd.check(&zip64, position)?;
            (zip64, at)
        }
    };
    if found.offset.checked_add(found.length) != Some(directory_end) {
        let reason = format!(
            "the central directory is recorded as {} bytes from byte {} on, but should end at byte \
             {directory_end}",
            found.length, found.offset
        );
        return Err(WheelError::DamagedZip {
            offset: position,
            reason,
        });
    }
    Ok(CentralDirectory { comment, ..found })
}

/// The fields of the EOCD.
struct Eocd {
    disks: [u16; 2],
    counts: [u16; 2],
    length: u32,
    offset: u32,
}

impl Eocd {
    fn read(end: &[u8]) -> Self {
        Self {
            disks: [u16_at(end, 4), u16_at(end, 6)],
            counts: [u16_at(end, 8), u16_at(end, 10)],
            length: u32_at(end, 12),
            offset: u32_at(end, 16),
        }
    }

    /// Returns the location of the central directory in an archive without zip64 EOCD.
    fn without_zip64(&self) -> Result<CentralDirectory, WheelError> {
        if self.disks != [0, 0] || self.counts[0] != self.counts[1] {
            return Err(WheelError::MultiDisk);
        }
        Ok(CentralDirectory {
            offset: self.offset.into(),
            length: self.length.into(),
            count: self.counts[1].into(),
            comment: Vec::new(),
        })
    }

    /// Checks that the zip64 EOCD has the same values, except for those that do not fit this
    /// record.
    fn check(&self, zip64: &CentralDirectory, position: u64) -> Result<(), WheelError> {
        if self.disks.iter().any(|disk| *disk != 0 && *disk != FULL_16) {
            return Err(WheelError::MultiDisk);
        }
        let same = |value: u64, full: u64, zip64: u64| value == full || value == zip64;
        let full_32 = u64::from(FULL_32);
        if self
            .counts
            .iter()
            .all(|count| same((*count).into(), FULL_16.into(), zip64.count))
            && same(self.length.into(), full_32, zip64.length)
            && same(self.offset.into(), full_32, zip64.offset)
        {
            return Ok(());
        }
        let reason = "its numbers contradict the ZIP64 record".to_owned();
        Err(WheelError::DamagedZip {
            offset: position,
            reason,
        })
    }
}

fn read_zip64_eocd(
    source: &dyn ReadAt,
    locator: &[u8],
    locator_at: u64,
) -> Result<(CentralDirectory, u64), WheelError> {
    let at = u64_at(locator, 8);
    if u32_at(locator, 4) != 0 || u32_at(locator, 16) > 1 {
        return Err(WheelError::MultiDisk);
    }
    let damaged = |reason: &str| WheelError::DamagedZip {
        offset: at,
        reason: reason.to_owned(),
    };
    if at
        .checked_add(ZIP64_EOCD_BYTES as u64)
        .is_none_or(|end| end > locator_at)
    {
        return Err(damaged(
            "the offset of the ZIP64 record leaves no room for it",
        ));
    }
    let mut record = [0; ZIP64_EOCD_BYTES];
    source
        .read_exact_at(&mut record, at)
        .map_err(WheelError::Read)?;
    if u32_at(&record, 0) != ZIP64_EOCD_SIGNATURE {
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
    if u64_at(&record, 4) != ZIP64_EOCD_BYTES as u64 - 12 {
        let reason = format!(
            "the ZIP64 end record, at byte {at}, has {} bytes of extensions",
            locator_at - at - ZIP64_EOCD_BYTES as u64
        );
        return Err(ArchiveViolation {
            rule: ArchiveRule::Zip64Extension,
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
    let end = CentralDirectory {
        count: u64_at(&record, 32),
        length: u64_at(&record, 40),
        offset: u64_at(&record, 48),
        comment: Vec::new(),
    };
    Ok((end, at))
}
