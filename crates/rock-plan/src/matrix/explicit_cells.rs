//! The cells of `rows` and `include`.

use std::collections::{BTreeMap, BTreeSet};

use super::axis_space::{AxisSpace, AxisValueIndex, CellRank};
use super::cell_rule::{CellRule, Finding};
use super::findings::with_source;
use super::partial::PartialCells;
use super::walk::{MatrixWalk, RuleHit, RuleScope, rule_finding};
use crate::codes::plan as codes;
use crate::config::{CellRow, MatrixConfig};
use rock_diagnostic::{Diagnostic, Sink};

/// The entries of `include`, by their number in the file.
#[derive(Debug)]
struct IncludeEntries {
    /// Entries that name one cell: every axis of the product, or a value outside it.
    whole: BTreeMap<CellRank, usize>,
    /// The other entries, with the index of the value that they name on each axis.
    partial: Vec<(usize, Vec<Option<usize>>)>,
}

/// An `include` entry that changes no leg: the exclusion of its cells, and a message.
type UnusedInclude = (RuleHit, &'static str);

/// Evaluates the cells of `rows` and `include`, and returns how many are outside the product. An
/// `include` that names every axis overrides the user's excludes and `rocm-policy`, but not the
/// compatibility data. Reports an `include` entry that changes no leg.
pub(super) fn add_explicit_cells(
    config: &MatrixConfig,
    space: &AxisSpace,
    rules: &[CellRule],
    walk: &mut MatrixWalk<'_>,
    sink: &mut Sink,
) -> u64 {
    let entries = IncludeEntries::new(config, space);
    let outside = cells_outside_product(config, space, &entries);
    let first = walk.legs.len();
    for &cell in &outside {
        let scope = if entries.whole.contains_key(&cell) {
            RuleScope::IncludedCell
        } else {
            RuleScope::All
        };
        walk.add_explicit_cell(cell, scope);
    }
    let legs_outside = walk.legs[first..].to_vec();
    let mut unused = restore_included_cells(space, &entries, walk);
    unused.extend(unused_partial_entries(space, &entries, &legs_outside, walk));
    for (number, (hit, message)) in unused {
        let finding = &rule_finding(rules, hit).outcome;
        sink.push(unused_include(config, number, message, finding));
    }
    outside.len() as u64
}

impl IncludeEntries {
    fn new(config: &MatrixConfig, space: &AxisSpace) -> Self {
        let (mut whole, mut partial) = (BTreeMap::new(), Vec::new());
        for (number, row) in config.include.iter().enumerate() {
            if names_one_cell(space, row) {
                whole.insert(space.cell_of(row), number);
            } else {
                partial.push((number, value_indexes(space, row)));
            }
        }
        Self { whole, partial }
    }
}

/// Whether an `include` entry names every axis of the product or a value outside it.
fn names_one_cell(space: &AxisSpace, row: &CellRow) -> bool {
    let mut axes = space.axes().iter().filter(|column| column.product_len > 0);
    axes.all(|column| row.axes.contains_key(&column.name)) || space.has_value_beyond_product(row)
}

/// Returns the index of the value that a row names on each axis.
fn value_indexes(space: &AxisSpace, row: &CellRow) -> Vec<Option<usize>> {
    let columns = space.axes().iter();
    columns
        .map(|column| column.index_of(&row.axes.get(&column.name)?.text))
        .collect()
}

/// Returns the cells of `rows` and of whole entries that the product does not have.
fn cells_outside_product(
    config: &MatrixConfig,
    space: &AxisSpace,
    entries: &IncludeEntries,
) -> BTreeSet<CellRank> {
    let rows = config.rows.iter().map(|row| space.cell_of(row));
    rows.chain(entries.whole.keys().copied())
        .filter(|cell| !space.is_in_product(*cell))
        .collect()
}

/// Restores the cells of whole entries that only the user's excludes and `rocm-policy` exclude.
/// Returns the entries with cells that another rule excludes.
fn restore_included_cells(
    space: &AxisSpace,
    entries: &IncludeEntries,
    walk: &mut MatrixWalk<'_>,
) -> BTreeMap<usize, UnusedInclude> {
    let mut unused = BTreeMap::new();
    for (&cell, &number) in &entries.whole {
        if space.is_in_product(cell) {
            walk.restore_cell(cell);
        }
        if let Some(hit) = walk.exclusion_of(cell, RuleScope::IncludedCell) {
            let message = "the cell of this `include` entry is excluded";
            unused.insert(number, (hit, message));
        }
    }
    unused
}

/// Returns the partial entries that match no leg.
fn unused_partial_entries(
    space: &AxisSpace,
    entries: &IncludeEntries,
    legs_outside: &[CellRank],
    walk: &mut MatrixWalk<'_>,
) -> Vec<(usize, UnusedInclude)> {
    let values = |indexes: &[Option<usize>]| -> Vec<AxisValueIndex> {
        let named = |(axis, value): (usize, &Option<usize>)| {
            value.map(|value| AxisValueIndex { axis, value })
        };
        indexes.iter().enumerate().filter_map(named).collect()
    };
    let cells = PartialCells::new(entries.partial.iter().map(|(_, indexes)| values(indexes)));
    let used: BTreeSet<usize> = legs_outside
        .iter()
        .flat_map(|cell| cells.matching(space, *cell))
        .collect();
    let mut unused = Vec::new();
    for (position, (number, indexes)) in entries.partial.iter().enumerate() {
        if let Some(hit) = walk.exclusion_of_all(indexes)
            && !used.contains(&position)
        {
            let message = "no cells are left for this `include` entry";
            unused.push((*number, (hit, message)));
        }
    }
    unused
}

fn unused_include(
    config: &MatrixConfig,
    number: usize,
    message: &str,
    finding: &Finding,
) -> Diagnostic {
    let reason = &finding.reason;
    let message = format!("{message}: {}", reason.reason);
    let diagnostic = Diagnostic::new(&codes::INCLUDE_LEFT_OUT, message).at(
        config.locations.of(&format!("include[{number}].axes")),
        finding.code.name,
    );
    let diagnostic = with_source(diagnostic, finding);
    diagnostic.help(match &reason.hint {
        Some(hint) => hint.to_string(),
        None => "remove the entry".to_owned(),
    })
}
