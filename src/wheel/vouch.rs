//! A member held against its row of RECORD.

use super::progress::Meter;
use super::record::{Hasher, Row};
use super::{Archive, Member, WheelError};

/// Why RECORD does not vouch for a member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Doubt {
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
    OtherHash {
        /// The hash as written.
        listed: String,
        /// Its own.
        actual: String,
    },
    /// Its size is another.
    OtherSize {
        /// The size as written.
        listed: String,
        /// Its own.
        actual: u64,
    },
}

impl Doubt {
    /// The same as an error that ends writing.
    pub(super) fn into_error(self, member: &Member) -> WheelError {
        let member = member.name().to_owned();
        match self {
            Self::NotListed => WheelError::NotInRecord { member },
            Self::WeakHash { listed, .. } => WheelError::WeakHash { member, listed },
            Self::OtherHash { listed, actual } => WheelError::RecordMismatch { member, listed, actual },
            Self::OtherSize { listed, actual } => {
                WheelError::RecordMismatch { member, listed: counted(&listed), actual: counted(&actual.to_string()) }
            }
        }
    }
}

fn counted(size: &str) -> String {
    format!("{size} bytes")
}

/// Reads a member as a whole, and compares it with its row.
///
/// # Errors
/// When its data is damaged or cannot be read.
pub(super) fn doubt(
    archive: &Archive<'_>,
    member: &Member,
    row: Option<&Row>,
    meter: &Meter<'_>,
) -> Result<Option<Doubt>, WheelError> {
    let known = row.and_then(|row| Hasher::for_hash(&row.hash));
    let is_known = known.is_some();
    let mut hasher = row.map(|_| known.unwrap_or_else(Hasher::sha256));
    archive.stream(member, &mut |bytes| {
        if let Some(hasher) = &mut hasher {
            hasher.update(bytes);
        }
        meter.add(bytes.len() as u64);
    })?;
    let (Some(row), Some(hasher)) = (row, hasher) else { return Ok(Some(Doubt::NotListed)) };
    let (listed, actual) = (row.hash.clone(), hasher.finish());
    Ok(if !is_known {
        Some(Doubt::WeakHash { listed, actual })
    } else if actual != listed.trim_end_matches('=') {
        Some(Doubt::OtherHash { listed, actual })
    } else {
        other_size(member, row)
    })
}

/// Whether the size in a row is another.
pub(super) fn other_size(member: &Member, row: &Row) -> Option<Doubt> {
    let (listed, actual) = (row.size.clone(), member.size_bytes());
    (listed.parse() != Ok(actual)).then_some(Doubt::OtherSize { listed, actual })
}
