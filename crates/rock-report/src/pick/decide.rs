//! Matches all candidates against one machine.

use super::wheel_match::verdict;
use super::{MatchNote, MatchRules, Mismatch, TargetMachine, WheelCandidate};

/// The maximum number of near misses that are returned if no wheel fits.
const MOST_NEAR: usize = 3;

/// The result of matching candidates against a machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PickDecision {
    /// The wheels that fit, best first: the newest version with the default backend, then the
    /// lowest cost of assumptions, then the order of the candidates.
    pub fits: Vec<FittingWheel>,
    /// If no wheel fits, the nearest ones: fewest mismatches, then the smallest ones.
    pub near: Vec<NearMiss>,
}

/// A wheel that fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FittingWheel {
    /// The index among the candidates.
    pub index: usize,
    /// The cost of the assumptions.
    pub cost: u64,
    /// The assumptions, in the order of the axes.
    pub notes: Vec<MatchNote>,
}

/// A wheel that does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NearMiss {
    /// The index among the candidates.
    pub index: usize,
    /// The mismatches, the hardest to change first.
    pub differences: Vec<Mismatch>,
    /// The assumptions on the other axes.
    pub notes: Vec<MatchNote>,
}

impl NearMiss {
    /// Returns the number of mismatches and their total weight.
    pub(super) fn distance(&self) -> (usize, u64) {
        let sizes = self.differences.iter().map(|difference| difference.size);
        (self.differences.len(), sizes.sum())
    }
}

/// Decides which of the wheels the machine needs. If the machine names a distribution, wheels of
/// other distributions are ignored.
///
/// The candidates must be in the order of [`super::candidates`].
pub fn decide(
    candidates: &[WheelCandidate],
    machine: &TargetMachine,
    rules: &MatchRules,
) -> PickDecision {
    let is_wanted = |wheel: &&WheelCandidate| {
        machine
            .distribution
            .as_ref()
            .is_none_or(|name| *name == wheel.distribution)
    };
    let mut fits = Vec::new();
    let mut near = Vec::new();
    for (index, wheel) in candidates
        .iter()
        .enumerate()
        .filter(|(_, wheel)| is_wanted(wheel))
    {
        let found = verdict(wheel, machine, rules);
        if found.differences.is_empty() {
            let key = (wheel.rank, found.cost, index);
            fits.push((
                key,
                FittingWheel {
                    index,
                    cost: found.cost,
                    notes: found.notes,
                },
            ));
        } else {
            let miss = NearMiss {
                index,
                differences: found.differences,
                notes: found.notes,
            };
            let key = (miss.distance(), wheel.rank, found.cost, index);
            near.push((key, miss));
        }
    }
    fits.sort_by_key(|(key, _)| *key);
    near.sort_by_key(|(key, _)| *key);
    let near = if fits.is_empty() {
        near.into_iter()
            .take(MOST_NEAR)
            .map(|(_, near)| near)
            .collect()
    } else {
        Vec::new()
    };
    PickDecision {
        fits: fits.into_iter().map(|(_, fit)| fit).collect(),
        near,
    }
}
