//! Expected cells and the wheels that fill them.

use std::collections::{BTreeMap, BTreeSet};

use rock_names::PythonVersion;

use super::{Combination, ExpectedCell, ExpectedCells, PublishedWheel, WheelListing};

/// An expected cell and the published wheel that fills it.
#[derive(Debug, Clone, Copy)]
pub struct MatchedCell<'a> {
    pub cell: &'a ExpectedCell,
    /// The wheel that fills the cell, if one is published.
    pub by: Option<&'a PublishedWheel>,
}

/// Finds a wheel for each cell: one of the same combination whose tags match the Python and the
/// platform of the cell. The spelling of the local version label, the glibc version in the platform
/// tag and the build tag are ignored.
pub fn matched<'a>(expected: &'a ExpectedCells, wheels: &'a WheelListing) -> Vec<MatchedCell<'a>> {
    let mut by_kind: BTreeMap<_, Vec<&PublishedWheel>> = BTreeMap::new();
    let mut by_distribution: BTreeMap<&str, Vec<&PublishedWheel>> = BTreeMap::new();
    for wheel in &wheels.all {
        by_kind
            .entry(kind(&wheel.combination))
            .or_default()
            .push(wheel);
        by_distribution
            .entry(&wheel.combination.distribution)
            .or_default()
            .push(wheel);
    }
    // If versions are unknown, one wheel could match the cells of several jobs. Each of these jobs
    // builds its own wheel, so a wheel fills only one such cell per Python.
    let mut taken: BTreeSet<(&str, Option<PythonVersion>)> = BTreeSet::new();
    let of_cell = |cell: &'a ExpectedCell| {
        let candidates = if cell.is_any_label {
            by_distribution.get(cell.combination.distribution.as_str())
        } else {
            by_kind.get(&kind(&cell.combination))
        };
        let candidates = candidates.map(Vec::as_slice).unwrap_or_default();
        let is_free = |wheel: &PublishedWheel| !taken.contains(&(wheel.name.as_str(), cell.python));
        let by = candidates
            .iter()
            .copied()
            .find(|wheel| fills(wheel, cell) && (cell.is_version_known || is_free(wheel)));
        if let Some(wheel) = by.filter(|_| !cell.is_version_known) {
            taken.insert((&wheel.name, cell.python));
        }
        MatchedCell { cell, by }
    };
    expected.cells.iter().map(of_cell).collect()
}

type Kind<'a> = (
    &'a str,
    Option<&'a rock_names::Accelerator>,
    Option<&'a rock_names::Version>,
    Option<&'a str>,
    Option<&'a str>,
);

fn kind(combination: &Combination) -> Kind<'_> {
    (
        &combination.distribution,
        combination.accelerator.as_ref(),
        combination.torch.as_ref(),
        combination.backend.as_deref(),
        combination.git.as_deref(),
    )
}

fn fills(wheel: &PublishedWheel, cell: &ExpectedCell) -> bool {
    let same_version =
        !cell.is_version_known || wheel.combination.version == cell.combination.version;
    let same_machine = wheel.machine.is_any() || wheel.machine == cell.machine;
    same_version && same_machine && wheel.pythons.serves(cell.python)
}
