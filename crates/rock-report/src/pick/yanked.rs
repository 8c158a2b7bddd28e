//! Yanked wheels, which are never recommended; those that fit are reported.

use super::{NearMiss, PickDecision, WheelCandidate, WheelOffer};

/// A yanked wheel that fits a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassedOver {
    /// The filename.
    pub file: String,
    /// The reason for the yank; empty if none was given.
    pub reason: String,
    /// Whether it would have been selected.
    pub is_missed: bool,
}

/// Splits candidates into those that are available and those that are yanked, each in order.
/// Yanked device wheels are removed from their host wheels.
pub fn split(candidates: Vec<WheelCandidate>) -> (Vec<WheelCandidate>, Vec<WheelCandidate>) {
    let is_yanked = |offer: &WheelOffer| offer.yanked.is_some();
    let wheels = candidates
        .into_iter()
        .map(|wheel| wheel.without_devices(is_yanked));
    wheels.partition(|wheel| wheel.offer.yanked.is_none())
}

/// Returns the yanked wheels that fit, best first. Each decision is that among its wheels.
pub fn passed_over(
    (offered, decision): (&[WheelCandidate], &PickDecision),
    (yanked, yanked_decision): (&[WheelCandidate], &PickDecision),
) -> Vec<PassedOver> {
    let chosen = decision
        .fits
        .first()
        .map(|fit| (offered[fit.index].rank, fit.cost));
    let fits = yanked_decision.fits.iter().map(|fit| {
        let wheel = &yanked[fit.index];
        PassedOver {
            file: wheel.offer.file.clone(),
            reason: wheel.offer.yanked.clone().unwrap_or_default(),
            is_missed: chosen.is_none_or(|chosen| (wheel.rank, fit.cost) < chosen),
        }
    });
    fits.collect()
}

/// Returns a sentence for each yanked wheel that does not fit, but is as near as the nearest wheel
/// that is offered, if none of them fits.
pub fn yanked_near_misses(
    decision: &PickDecision,
    (yanked, yanked_decision): (&[WheelCandidate], &PickDecision),
) -> Vec<String> {
    if !decision.fits.is_empty() {
        return Vec::new();
    }
    let nearest = decision.near.first().map(NearMiss::distance);
    yanked_decision
        .near
        .iter()
        .filter(|near| nearest.is_none_or(|nearest| near.distance() <= nearest))
        .map(|near| {
            let offer = &yanked[near.index].offer;
            let reason = offer.yanked.as_deref().unwrap_or_default();
            format!(
                "{} does not fit either and {}",
                offer.file,
                is_yanked(reason)
            )
        })
        .collect()
}

fn is_yanked(reason: &str) -> String {
    match reason {
        "" => "is yanked".to_owned(),
        reason => format!("is yanked: {reason}"),
    }
}

impl std::fmt::Display for PassedOver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} fits but {}", self.file, is_yanked(&self.reason))
    }
}
