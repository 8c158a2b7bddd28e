//! Published wheels that lack code for targets of their jobs.
//!
//! Input: planned cells with the wheels that fill them. Output: a warning for each such wheel.

use std::collections::{BTreeMap, BTreeSet};

use super::{ExpectedCell, MatchedCell, PublishedWheel};
use rock_compat::Compat;
use rock_diagnostic::Diagnostic;
use rock_publish::{GfxOrigin, TargetShortfall};

/// Returns the published wheels of planned cells with gfx targets, except wheels for any platform.
fn compared<'a>(
    found: &'a [MatchedCell<'a>],
) -> impl Iterator<Item = (&'a ExpectedCell, &'a PublishedWheel)> {
    let filled = found
        .iter()
        .filter_map(|matched| Some((matched.cell, matched.by?)));
    filled.filter(|(cell, wheel)| !cell.gfx.is_empty() && !wheel.machine.is_any())
}

/// Returns the tags of the releases whose manifests are needed to compare their wheels.
pub fn unread_targets(found: &[MatchedCell<'_>]) -> BTreeSet<String> {
    compared(found)
        .filter(|(_, wheel)| wheel.gfx_from.is_none())
        .map(|(_, wheel)| wheel.tag.clone())
        .collect()
}

/// Warns once about each published wheel that lacks code for a target of its job. Only wheels whose
/// manifest lists targets that were read from the wheel's code are compared.
pub fn target_shortfalls(found: &[MatchedCell<'_>], compat: &Compat) -> Vec<Diagnostic> {
    let read = compared(found).filter(|(_, wheel)| wheel.gfx_from == Some(GfxOrigin::Wheel));
    let diagnostics: BTreeMap<(&str, &str), Diagnostic> = read
        .filter_map(|(cell, wheel)| {
            let distribution = &wheel.combination.distribution;
            let shortfall = TargetShortfall::of(distribution, &cell.gfx, &wheel.gfx, compat)?;
            Some((
                (wheel.name.as_str(), wheel.tag.as_str()),
                shortfall.of_published(&wheel.name, &wheel.tag),
            ))
        })
        .collect();
    diagnostics.into_values().collect()
}
