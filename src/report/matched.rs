//! Expected cells and the wheels that fill them.

use std::collections::BTreeMap;

use super::{Combination, Expected, ExpectedCell, PublishedWheel, Wheels};

/// An expected cell with the wheel that fills it.
#[derive(Debug, Clone, Copy)]
pub struct Matched<'a> {
    /// The cell.
    pub cell: &'a ExpectedCell,
    /// The wheel; `None` where there is none.
    pub by: Option<&'a PublishedWheel>,
}

/// Finds for each cell a wheel of the same combination whose tags serve its Python and platform. The label's spelling,
/// the glibc of the platform tag and the build tag do not matter.
pub fn matched<'a>(expected: &'a Expected, wheels: &'a Wheels) -> Vec<Matched<'a>> {
    let mut by_kind: BTreeMap<_, Vec<&PublishedWheel>> = BTreeMap::new();
    for wheel in &wheels.all {
        by_kind.entry(kind(&wheel.combination)).or_default().push(wheel);
    }
    let of_cell = |cell: &'a ExpectedCell| {
        let candidates = by_kind.get(&kind(&cell.combination)).map(Vec::as_slice).unwrap_or_default();
        Matched { cell, by: candidates.iter().copied().find(|wheel| fills(wheel, cell)) }
    };
    expected.cells.iter().map(of_cell).collect()
}

type Kind<'a> = (
    &'a str,
    Option<&'a crate::names::Accelerator>,
    Option<&'a crate::names::Version>,
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
    let same_version = !cell.is_version_known || wheel.combination.version == cell.combination.version;
    let same_machine = wheel.machine.is_any() || wheel.machine == cell.machine;
    same_version && same_machine && wheel.pythons.serves(cell.python)
}
