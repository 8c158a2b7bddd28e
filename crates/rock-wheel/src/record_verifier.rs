//! Comparison of members with their rows of RECORD.

use std::collections::BTreeMap;

use super::progress::ProgressMeter;
use super::record::{Record, RecordHasher, RecordRow};
use super::{WheelError, ZipArchive, ZipMember};

/// The reason why a member does not match RECORD.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RecordMismatch {
    /// It has no row.
    NotListed,
    /// Its hash is missing or weaker than SHA-256.
    WeakHash {
        /// Hash in RECORD.
        listed: String,
        /// SHA-256 of the content.
        actual: String,
    },
    /// Its hash differs.
    HashMismatch {
        /// Hash in RECORD.
        listed: String,
        /// Hash of the content.
        actual: String,
    },
    /// Its size differs.
    SizeMismatch {
        /// Size in RECORD.
        listed: String,
        /// Size of the content.
        actual: u64,
    },
}

impl RecordMismatch {
    /// Converts the mismatch to an error of rewriting.
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

/// Smaller members are not hashed here, because reading them again costs little.
const SHORT_BYTES: u64 = 1 << 20;

/// Verifies members against RECORD while they are read for another purpose, so that they need not
/// be read again.
#[derive(Debug)]
pub struct RecordVerifier<'w> {
    rows: BTreeMap<&'w str, &'w RecordRow>,
}

impl<'w> RecordVerifier<'w> {
    /// Creates a verifier, which uses the first row of each path.
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

    /// Returns a hasher for a member. Returns `None` if the member is small, or RECORD has no
    /// usable hash of it.
    pub fn hasher(&self, member: &ZipMember) -> Option<RecordHasher> {
        let row = self
            .rows
            .get(member.name())
            .filter(|_| member.size_bytes() >= SHORT_BYTES)?;
        RecordHasher::for_hash(&row.hash)
    }

    /// Returns whether hash and size of a member match RECORD. The hasher must have hashed the
    /// whole content.
    pub fn matches(&self, member: &ZipMember, hasher: RecordHasher) -> bool {
        let Some(row) = self.rows.get(member.name()) else {
            return false;
        };
        hasher.finish() == row.hash.trim_end_matches('=') && size_mismatch(member, row).is_none()
    }
}

/// Reads a member, and compares hash and size with its row.
///
/// # Errors
/// Fails if the data is damaged or cannot be read.
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

/// Returns a mismatch if the size in a row differs from the member's.
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
    fn large_members_are_verified_by_hash_and_size() {
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
