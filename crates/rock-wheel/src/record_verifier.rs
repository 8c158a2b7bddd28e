//! A member held against its row of RECORD.

use std::collections::BTreeMap;

use super::progress::ProgressMeter;
use super::record::{Record, RecordHasher, RecordRow};
use super::{WheelError, ZipArchive, ZipMember};

/// Why RECORD does not vouch for a member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RecordMismatch {
    /// It has no row.
    NotListed,
    /// Its hash may not be used, or is missing.
    WeakHash {
        /// The hash as written.
        listed: String,
        /// The SHA-256 that it should have.
        actual: String,
    },
    /// Its hash is another.
    HashMismatch {
        /// The hash as written.
        listed: String,
        /// Its own.
        actual: String,
    },
    /// Its size is another.
    SizeMismatch {
        /// The size as written.
        listed: String,
        /// Its own.
        actual: u64,
    },
}

impl RecordMismatch {
    /// The same as an error that ends writing.
    pub(super) fn into_error(self, member: &ZipMember) -> WheelError {
        let member = member.name().to_owned();
        match self {
            Self::NotListed => WheelError::NotInRecord { member },
            Self::WeakHash { listed, .. } => WheelError::WeakHash {
                member,
                listed,
                members: 1,
            },
            Self::HashMismatch { listed, actual } => WheelError::RecordMismatch {
                member,
                listed,
                actual,
            },
            Self::SizeMismatch { listed, actual } => WheelError::RecordMismatch {
                member,
                listed: counted(&listed),
                actual: counted(&actual.to_string()),
            },
        }
    }
}

fn counted(size: &str) -> String {
    format!("{size} bytes")
}

/// Reading a shorter member once more takes no time worth saving.
const SHORT_BYTES: u64 = 1 << 20;

/// RECORD beside someone who reads members anyway: what they read as a whole need not be read once
/// more.
#[derive(Debug)]
pub struct RecordVerifier<'w> {
    rows: BTreeMap<&'w str, &'w RecordRow>,
}

impl<'w> RecordVerifier<'w> {
    /// By the first row of each path.
    pub fn new(record: &'w Record) -> Self {
        Self {
            rows: record
                .rows
                .iter()
                .rev()
                .map(|row| (row.path.as_str(), row))
                .collect(),
        }
    }

    /// What hashes a member while it is read; `None` where that is not worth it, or has no hash
    /// that may be used.
    pub fn hasher(&self, member: &ZipMember) -> Option<RecordHasher> {
        let row = self
            .rows
            .get(member.name())
            .filter(|_| member.size_bytes() >= SHORT_BYTES)?;
        RecordHasher::for_hash(&row.hash)
    }

    /// Whether RECORD has this hash of all of a member, and its size.
    pub fn matches(&self, member: &ZipMember, hasher: RecordHasher) -> bool {
        let Some(row) = self.rows.get(member.name()) else {
            return false;
        };
        hasher.finish() == row.hash.trim_end_matches('=') && size_mismatch(member, row).is_none()
    }
}

/// Reads a member as a whole, and compares it with its row.
///
/// # Errors
/// When its data is damaged or cannot be read.
pub(super) fn compare_with_record(
    archive: &ZipArchive<'_>,
    member: &ZipMember,
    row: Option<&RecordRow>,
    meter: &ProgressMeter<'_>,
) -> Result<Option<RecordMismatch>, WheelError> {
    let known = row.and_then(|row| RecordHasher::for_hash(&row.hash));
    let is_known = known.is_some();
    let mut hasher = row.map(|_| known.unwrap_or_else(RecordHasher::sha256));
    archive.stream(member, &mut |bytes| {
        if let Some(hasher) = &mut hasher {
            hasher.update(bytes);
        }
        meter.add(bytes.len() as u64);
    })?;
    let (Some(row), Some(hasher)) = (row, hasher) else {
        return Ok(Some(RecordMismatch::NotListed));
    };
    let (listed, actual) = (row.hash.clone(), hasher.finish());
    Ok(if !is_known {
        Some(RecordMismatch::WeakHash { listed, actual })
    } else if actual != listed.trim_end_matches('=') {
        Some(RecordMismatch::HashMismatch { listed, actual })
    } else {
        size_mismatch(member, row)
    })
}

/// Whether the size in a row is another.
pub(super) fn size_mismatch(member: &ZipMember, row: &RecordRow) -> Option<RecordMismatch> {
    let (listed, actual) = (row.size.clone(), member.size_bytes());
    (listed.parse() != Ok(actual)).then_some(RecordMismatch::SizeMismatch { listed, actual })
}

#[cfg(test)]
mod tests {
    use super::super::ZipWriter;
    use super::super::zip::MemberOptions;
    use super::{Record, RecordRow, RecordVerifier, SHORT_BYTES, ZipArchive};

    #[test]
    fn a_member_is_vouched_for_by_its_hash_and_its_size_and_only_where_reading_it_takes_time() {
        let long = vec![7; usize::try_from(SHORT_BYTES).unwrap()];
        let mut bytes = Vec::new();
        let mut writer = ZipWriter::new(&mut bytes);
        for (name, content) in [
            ("true.so", &long[..]),
            ("other.so", &long[..]),
            ("short.so", b"short"),
        ] {
            writer
                .add(name, content, &MemberOptions::default())
                .unwrap();
        }
        writer.finish().unwrap();
        let archive = ZipArchive::open(&bytes).unwrap();
        let rows = vec![
            RecordRow::for_content("true.so", &long),
            RecordRow::for_content("other.so", b"x"),
            RecordRow::without_hash("bare.so"),
        ];
        let (record, member) = (Record { rows }, |name| archive.member(name).unwrap());
        let vouching = RecordVerifier::new(&record);
        let agrees = |name| {
            let mut hasher = vouching.hasher(member(name))?;
            hasher.update(&long);
            Some(vouching.matches(member(name), hasher))
        };
        assert_eq!(
            [agrees("true.so"), agrees("other.so"), agrees("short.so")],
            [Some(true), Some(false), None]
        );
    }
}
