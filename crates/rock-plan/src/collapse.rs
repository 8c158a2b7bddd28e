//! Collapsed axes, and the cells that one job builds for all of their values.

use std::collections::HashMap;

use super::draft::GroupDrafter;
use super::naming::CellValues;
use super::shared_values::{CompactJob, SharedValues};
use crate::config::{AxisRole, MatrixConfig, ParsedValue, RecipeBackend};
use crate::matrix::{AxisSpace, CellRank};

impl GroupDrafter<'_> {
    /// Returns the axes whose values share one wheel for this cell's backend.
    pub(super) fn collapsed_axes(&self, words: &CellValues<'_>) -> &[usize] {
        let own = self
            .collapsed
            .iter()
            .find(|(backend, _)| std::ptr::eq(*backend, words.backend));
        own.map_or(&[], |(_, axes)| axes)
    }

    /// Returns the cell with its values on these axes cleared.
    pub(super) fn without(&self, cell: CellRank, axes: &[usize]) -> CellRank {
        axes.iter()
            .fold(cell, |cell, &axis| self.universe.with(cell, axis, 0))
    }

    /// Returns the cell that each collapsed job is built as: the one with the lowest Python, where
    /// free-threaded versions come last, and the first of several.
    pub(super) fn first_cells(&self, legs: &[CellRank]) -> HashMap<CellRank, CellRank> {
        let mut first: HashMap<CellRank, CellRank> = HashMap::new();
        if self.collapsed.iter().all(|(_, axes)| axes.is_empty()) {
            return first;
        }
        let python = |cell: CellRank| {
            let value = self
                .at
                .get(&AxisRole::Python)
                .and_then(|&axis| self.universe.value(cell, axis));
            match value.map(|value| &value.value) {
                Some(ParsedValue::Python(python)) => Some((python.is_free_threaded(), *python)),
                _ => None,
            }
        };
        for &cell in legs {
            let Some(words) = CellValues::of(self.universe, cell, self.profile) else {
                continue;
            };
            let axes = self.collapsed_axes(&words);
            if !axes.is_empty() {
                let own = first.entry(self.without(cell, axes)).or_insert(cell);
                if python(cell) < python(*own) {
                    *own = cell;
                }
            }
        }
        first
    }

    /// Adds the values of a cell to those that a job covers.
    pub(super) fn cover(
        &self,
        shared: &mut SharedValues,
        draft: &mut CompactJob,
        axes: &[usize],
        cell: CellRank,
    ) {
        if draft.covers == 0 {
            shared
                .covers
                .push(axes.iter().map(|&axis| (axis, Vec::new())).collect());
            draft.covers =
                u32::try_from(shared.covers.len()).expect("fewer than 2^32 jobs fit in memory");
        }
        for (axis, covered) in &mut shared.covers[draft.covers as usize - 1] {
            let index = self.universe.index(cell, *axis);
            if !covered.contains(&index) {
                covered.push(index);
            }
        }
    }
}

/// Returns the axes whose values share one wheel of a backend: those that the recipe always
/// collapses, and the collapsible ones that the matrix file selects.
pub(super) fn collapsed(
    backend: &RecipeBackend,
    config: &MatrixConfig,
    universe: &AxisSpace,
) -> Vec<usize> {
    let is_collapsed = |name: &String| {
        backend.collapse.contains(name)
            || (backend.collapsible.contains(name) && config.collapse.contains(name))
    };
    let axes = universe.axes().iter().enumerate();
    axes.filter(|(_, column)| is_collapsed(&column.name))
        .map(|(axis, _)| axis)
        .collect()
}
