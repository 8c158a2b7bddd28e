//! Which members of a wheel were copied out of another.

use std::collections::{BTreeMap, BTreeSet};

use super::super::record::Row;
use super::super::{Member, Wheel};

/// What stays the same of a member that is copied: CRC-32, size, compressed size, and the hash in
/// its row of RECORD.
type Trace<'w> = (u32, u64, u64, &'w str);

/// The members that one wheel has of another. What was read of the old one holds for them, too.
#[derive(Debug)]
pub struct Carried<'w> {
    old: BTreeSet<Trace<'w>>,
    hashes: BTreeMap<&'w str, &'w str>,
}

impl<'w> Carried<'w> {
    /// The members that the new wheel has of the old one, under whatever name.
    pub fn new(old: &'w Wheel<'_>, new: &'w Wheel<'_>) -> Self {
        let rows = hashes(old);
        let trace = |member: &Member| trace(member, rows.get(member.name()).copied());
        Self {
            old: old.archive().members().iter().filter_map(trace).collect(),
            hashes: hashes(new),
        }
    }

    /// Whether a member of the new wheel is one of the old.
    pub fn has(&self, member: &Member) -> bool {
        trace(member, self.hashes.get(member.name()).copied())
            .is_some_and(|trace| self.old.contains(&trace))
    }
}

fn hashes<'w>(wheel: &'w Wheel<'_>) -> BTreeMap<&'w str, &'w str> {
    let hash = |row: &'w Row| (row.path.as_str(), row.hash.as_str());
    wheel
        .record()
        .rows
        .iter()
        .map(hash)
        .filter(|(_, hash)| !hash.is_empty())
        .collect()
}

fn trace<'w>(member: &Member, hash: Option<&'w str>) -> Option<Trace<'w>> {
    Some((
        member.crc32(),
        member.size_bytes(),
        member.compressed_bytes(),
        hash?,
    ))
}
