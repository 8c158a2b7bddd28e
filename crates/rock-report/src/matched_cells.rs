//! Expected cells and the wheels that fill them.

use std::collections::{BTreeMap, BTreeSet};

use rock_names::PythonVersion;

use super::{Combination, ExpectedCell, ExpectedCells, PublishedWheel, WheelListing};

/// An expected cell with the wheel that fills it.
#[derive(Debug, Clone, Copy)]
pub struct MatchedCell<'a> {
    /// The cell.
    pub cell: &'a ExpectedCell,
    /// The wheel; `None` where there is none.
    pub by: Option<&'a PublishedWheel>,
}

/// Finds for each cell a wheel of the same combination whose tags serve its Python and platform.
/// The label's spelling, the glibc of the platform tag and the build tag do not matter.
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
    // Where versions are not known one wheel would fill the cells of several jobs, and each of
    // these makes its own.
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
