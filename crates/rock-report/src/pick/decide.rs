//! All wheels against one machine.

use super::wheel_match::verdict;
use super::{MatchNote, MatchRules, Mismatch, TargetMachine, WheelCandidate};

/// How many of the nearest wheels are told when none fits.
const MOST_NEAR: usize = 3;

/// The answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PickDecision {
    /// The wheels that fit, best first: the newest version with the backend that labels do not
    /// name, then the fewest assumptions, then the order of the candidates.
    pub fits: Vec<FittingWheel>,
    /// Where none fits, the nearest: fewest differences, then smallest.
    pub near: Vec<NearMiss>,
}

/// A wheel that fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FittingWheel {
    /// Its position among the candidates.
    pub index: usize,
    /// What the assumptions cost.
    pub cost: u64,
    /// What is assumed, in the order of the questions.
    pub notes: Vec<MatchNote>,
}

/// A wheel that does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NearMiss {
    /// Its position among the candidates.
    pub index: usize,
    /// What keeps it away, the hardest to change first.
    pub differences: Vec<Mismatch>,
    /// What would be assumed beside that.
    pub notes: Vec<MatchNote>,
}

/// Which of the wheels the machine needs. Wheels of other projects than the machine's are not
/// looked at.
///
/// The candidates come in the order of [`super::candidates`].
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
            let size: u64 = found
                .differences
                .iter()
                .map(|difference| difference.size)
                .sum();
            let key = (found.differences.len(), size, wheel.rank, found.cost, index);
            near.push((
                key,
                NearMiss {
                    index,
                    differences: found.differences,
                    notes: found.notes,
                },
            ));
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
