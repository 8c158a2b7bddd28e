//! Ranks, partial cells and selections of cells.

use super::{AxisSpace, AxisValueIndex, CellSelection, MatrixExpansion, PartialCells, expand};
use crate::config::{self, Lookups, recipe};
use rock_compat::Compat;
use rock_diagnostic::{Severity, Sink, SourceText};

const MATRIX: &str = "version: 1\ndistribution: flash-attn\nrecipe: flash-attn\ngfx: [gfx942]\n\
    axes: {flash-attn: [\"2.8.3\"], python: [\"3.11\", \"3.12\"], torch: [\"2.5.1\"], rocm: [\"6.1\", \"6.2\"]}\n\
    rows: [{flash-attn: \"2.8.3\", python: \"3.10\", torch: \"2.5.1\", rocm: \"6.2\"}]\n";

/// Reads a matrix file of a shipped recipe.
pub(super) fn read(text: &str) -> config::MatrixConfig {
    let compat = Compat::embedded();
    let lookups = Lookups::new(&compat, recipe::RecipeSet::with_shipped([]).into());
    config::read(&SourceText::new("m.yaml", text), &lookups, &mut Sink::new()).unwrap()
}

/// Expands a matrix file of flash-attn for gfx942, with these axes and settings. Returns also the
/// codes of the diagnostics.
pub(super) fn expanded(text: &str) -> (MatrixExpansion, Vec<(&'static str, Severity)>) {
    let config = read(&format!(
        "version: 1\ndistribution: flash-attn\nrecipe: flash-attn\ngfx: [gfx942]\n{text}"
    ));
    let profile = recipe::embedded("flash-attn")
        .unwrap()
        .profile("flash-attn");
    let (compat, all, mut sink) = (Compat::embedded(), CellSelection::default(), Sink::new());
    let expansion = expand(&config, &profile, &compat, &all, &mut sink).unwrap();
    let found = sink.finish();
    let codes = found.iter().map(|found| (found.code.id, found.severity));
    (expansion, codes.collect())
}

fn space() -> (AxisSpace, config::MatrixConfig) {
    let config = read(MATRIX);
    (AxisSpace::new(&config).unwrap(), config)
}

#[test]
fn a_cell_matches_the_partial_cells_with_its_values_in_their_order() {
    let (space, config) = space();
    let (python, rocm) = (1, 3);
    let at = |axis, value| AxisValueIndex { axis, value };
    let cells = PartialCells::new(
        [
            vec![at(rocm, 1)],
            vec![at(rocm, 1), at(python, 2)],
            vec![at(python, 0)],
            vec![],
            vec![at(rocm, 1)],
        ]
        .into_iter(),
    );
    let cell = space.cell_of(&config.rows[0]);
    assert_eq!(cells.matching(&space, cell), [0, 1, 3, 4]);
}

#[test]
fn ranks_and_cells_are_the_same_numbers() {
    let (space, config) = space();
    assert_eq!(space.cell_count(), 4, "the row is outside the product");
    let cell = space.cell_of(&config.rows[0]);
    assert!(!space.is_in_product(cell) && space.has_value_beyond_product(&config.rows[0]));
    let texts: Vec<String> = space.texts(cell).into_values().collect();
    assert_eq!(texts, ["2.8.3", "3.10", "2.5.1", "6.2"]);
    let inside = space.with(cell, 1, 0);
    assert!(space.is_in_product(inside));
    assert_eq!((space.index(inside, 1), space.index(inside, 3)), (0, 1));
    assert_eq!(space.with(inside, 1, 2), cell);
}

#[test]
fn a_selection_takes_any_of_the_values_of_an_axis() {
    let (space, _) = space();
    let python = &space.axes()[1];
    let allowed = |values: &[(&str, &str)]| -> Vec<bool> {
        let owned = |(axis, text): &(&str, &str)| ((*axis).to_owned(), (*text).to_owned());
        let selection = CellSelection::new(values.iter().map(owned).collect());
        let values = python.values.iter().flatten();
        values
            .map(|value| selection.allows("python", value))
            .collect()
    };
    assert_eq!(allowed(&[]), [true, true, true]);
    assert_eq!(allowed(&[("rocm", "6.1")]), [true, true, true]);
    let two = [("python", "3.10"), ("python", "3.12")];
    assert_eq!(allowed(&two), [false, true, true]);
}
