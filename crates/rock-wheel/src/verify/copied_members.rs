//! Members that a wheel has in common with another one.

use std::collections::{BTreeMap, BTreeSet};

use super::super::record::RecordRow;
use super::super::{Wheel, ZipMember};

/// The properties of a member that copying keeps: CRC-32, size, compressed size, and the hash in
/// its row of RECORD.
type MemberFingerprint<'w> = (u32, u64, u64, &'w str);

/// The members that a new wheel has in common with an old one. Results for the old members apply to
/// them.
#[derive(Debug)]
pub struct CopiedMembers<'w> {
    old: BTreeSet<MemberFingerprint<'w>>,
    record_hashes: BTreeMap<&'w str, &'w str>,
}

impl<'w> CopiedMembers<'w> {
    /// Compares the members of two wheels, ignoring names.
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

    /// Returns whether a member of the new wheel is also in the old one.
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
