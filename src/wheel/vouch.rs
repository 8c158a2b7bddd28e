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
            Self::WeakHash { listed } => WheelError::WeakHash { member, listed },
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
    let mut hasher = row.and_then(|row| Hasher::for_hash(&row.hash));
    archive.stream(member, &mut |bytes| {
        if let Some(hasher) = &mut hasher {
            hasher.update(bytes);
        }
        meter.add(bytes.len() as u64);
    })?;
    let (Some(row), Some(hasher)) = (row, hasher) else {
        return Ok(Some(row.map_or(Doubt::NotListed, |row| Doubt::WeakHash { listed: row.hash.clone() })));
    };
    let actual = hasher.finish();
    Ok(if actual != row.hash.trim_end_matches('=') {
        Some(Doubt::OtherHash { listed: row.hash.clone(), actual })
    } else if row.size.parse() != Ok(member.size_bytes()) {
        Some(Doubt::OtherSize { listed: row.size.clone(), actual: member.size_bytes() })
    } else {
        None
    })
}
