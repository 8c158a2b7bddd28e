//! Which members of a wheel were copied out of another.

use std::collections::{BTreeMap, BTreeSet};

use super::super::record::RecordRow;
use super::super::{Wheel, ZipMember};

/// What stays the same of a member that is copied: CRC-32, size, compressed size, and the hash in
/// its row of RECORD.
type MemberFingerprint<'w> = (u32, u64, u64, &'w str);

/// The members that one wheel has of another. What was read of the old one holds for them, too.
#[derive(Debug)]
pub struct CopiedMembers<'w> {
    old: BTreeSet<MemberFingerprint<'w>>,
    record_hashes: BTreeMap<&'w str, &'w str>,
}

impl<'w> CopiedMembers<'w> {
    /// The members that the new wheel has of the old one, under whatever name.
    pub fn new(old: &'w Wheel<'_>, new: &'w Wheel<'_>) -> Self {
        let rows = record_hashes(old);
        let fingerprint =
            |member: &ZipMember| fingerprint(member, rows.get(member.name()).copied());
        Self {
            old: old
                .archive()
                .members()
                .iter()
                .filter_map(fingerprint)
                .collect(),
            record_hashes: record_hashes(new),
        }
    }

    /// Whether a member of the new wheel is one of the old.
    pub fn contains(&self, member: &ZipMember) -> bool {
        fingerprint(member, self.record_hashes.get(member.name()).copied())
            .is_some_and(|fingerprint| self.old.contains(&fingerprint))
    }
}

fn record_hashes<'w>(wheel: &'w Wheel<'_>) -> BTreeMap<&'w str, &'w str> {
    let hash = |row: &'w RecordRow| (row.path.as_str(), row.hash.as_str());
    wheel
        .record()
        .rows
        .iter()
        .map(hash)
        .filter(|(_, hash)| !hash.is_empty())
        .collect()
}

fn fingerprint<'w>(member: &ZipMember, hash: Option<&'w str>) -> Option<MemberFingerprint<'w>> {
    Some((
        member.crc32(),
        member.size_bytes(),
        member.compressed_bytes(),
        hash?,
    ))
}
