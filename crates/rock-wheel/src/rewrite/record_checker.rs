//! Verification of old members against RECORD.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::super::progress::ProgressMeter;
use super::super::record_verifier::{RecordMismatch, compare_with_record, size_mismatch};
use super::super::{WheelError, ZipArchive, ZipMember};
use super::RecordCheck;
use super::planned_member::PlannedMember;
use rock_bytes::start_threads;

/// Members whose rows have no usable hash.
pub(super) type WeakHashes<'p> = BTreeMap<&'p str, WeakHash>;

/// A usable hash for a member, and the hash that it replaces.
pub(super) struct WeakHash {
    /// Hash in RECORD.
    pub(super) listed: String,
    /// SHA-256 of the content.
    pub(super) actual: String,
    pub(super) size_bytes: u64,
}

/// Verifies members against RECORD.
pub(super) struct RecordChecker<'c> {
    pub(super) archive: &'c ZipArchive<'c>,
    pub(super) record_check: RecordCheck,
    pub(super) meter: &'c ProgressMeter<'c>,
}

impl RecordChecker<'_> {
    /// Verifies members in the calling thread.
    pub(super) fn check_all<'p>(
        &self,
        members: &[&PlannedMember<'p>],
    ) -> Result<WeakHashes<'p>, WheelError> {
        members
            .iter()
            .filter_map(|part| self.check(part).transpose())
            .collect()
    }

    /// Verifies members in rayon's threads, while the calling thread does other work.
    pub(super) fn check_during<'p, R>(
        &self,
        members: &[&PlannedMember<'p>],
        work: impl FnOnce() -> R,
    ) -> (Result<WeakHashes<'p>, WheelError>, R) {
        start_threads();
        let mut weak_hashes = Ok(BTreeMap::new());
        let result = rayon::in_place_scope(|scope| {
            scope.spawn(|_| weak_hashes = self.check_all_in_parallel(members));
            work()
        });
        (weak_hashes, result)
    }

    /// Verifies members in the threads of the pool, the largest first. Of several errors, returns the first in the archive.
    fn check_all_in_parallel<'p>(
        &self,
        members: &[&PlannedMember<'p>],
    ) -> Result<WeakHashes<'p>, WheelError> {
        let mut largest_first: Vec<(usize, &&PlannedMember<'p>)> =
            members.iter().enumerate().collect();
        largest_first.sort_by_key(|(_, part)| {
            std::cmp::Reverse(part.member.map_or(0, ZipMember::size_bytes))
        });
        let results = largest_first.into_iter().par_bridge();
        let mut results: Vec<_> = results
            .filter_map(|(index, part)| Some((index, self.check(part).transpose()?)))
            .collect();
        results.sort_by_key(|(index, _)| *index);
        results.into_iter().map(|(_, checked)| checked).collect()
    }

    /// Verifies a member. Returns its new hash if its row has no usable one, and the options allow
    /// that.
    fn check<'p>(
        &self,
        part: &PlannedMember<'p>,
    ) -> Result<Option<(&'p str, WeakHash)>, WheelError> {
        let Some(member) = part.member else {
            return Ok(None);
        };
        let refused = match compare_with_record(self.archive, member, part.row, self.meter)? {
            None => return Ok(None),
            Some(RecordMismatch::WeakHash { listed, actual })
                if self.record_check != RecordCheck::ChangedMembers =>
            {
                let row = part.row.filter(|row| !row.size.is_empty());
                match row.and_then(|row| size_mismatch(member, row)) {
                    None => {
                        let weak = WeakHash {
                            listed,
                            actual,
                            size_bytes: member.size_bytes(),
                        };
                        return Ok(Some((member.name(), weak)));
                    }
                    Some(other) => other,
                }
            }
            Some(mismatch) => mismatch,
        };
        Err(refused.into_error(member))
    }
}
