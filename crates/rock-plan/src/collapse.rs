//! Collapsed axes, and the cells that one job builds for all of their values.

use std::collections::HashMap;

use super::compact_jobs::CompactJobBuilder;
use super::naming::CellValues;
use super::shared_values::{CompactJob, SharedValues};
use crate::config::{AxisRole, MatrixConfig, ParsedValue, RecipeBackend};
use crate::matrix::{AxisSpace, CellRank};

impl CompactJobBuilder<'_> {
    /// Returns the axes whose values share one wheel for this cell's backend.
    pub(super) fn collapsed_axes(&self, values: &CellValues<'_>) -> &[usize] {
        let own = self
            .collapsed
            .iter()
            .find(|(backend, _)| std::ptr::eq(*backend, values.backend));
        own.map_or(&[], |(_, axes)| axes)
    }

    /// Returns the cell with its values on these axes cleared.
    pub(super) fn without(&self, cell: CellRank, axes: &[usize]) -> CellRank {
        axes.iter()
            .fold(cell, |cell, &axis| self.space.with(cell, axis, 0))
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
                .axis_of_role
                .get(&AxisRole::Python)
                .and_then(|&axis| self.space.value(cell, axis));
            match value.map(|value| &value.value) {
                Some(ParsedValue::Python(python)) => Some((python.is_free_threaded(), *python)),
                _ => None,
            }
        };
        for &cell in legs {
            let axes = self.collapsed_axes(&self.values(cell));
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
        job: &mut CompactJob,
        axes: &[usize],
        cell: CellRank,
    ) {
        if job.covers == 0 {
            shared
                .covers
                .push(axes.iter().map(|&axis| (axis, Vec::new())).collect());
            job.covers =
                u32::try_from(shared.covers.len()).expect("fewer than 2^32 jobs fit in memory");
        }
        for (axis, covered) in &mut shared.covers[job.covers as usize - 1] {
            let index = self.space.index(cell, *axis);
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
    space: &AxisSpace,
) -> Vec<usize> {
    let is_collapsed = |name: &String| {
        backend.collapse.contains(name)
            || (backend.collapsible.contains(name) && config.collapse.contains(name))
    };
    let axes = space.axes().iter().enumerate();
    axes.filter(|(_, column)| is_collapsed(&column.name))
        .map(|(axis, _)| axis)
        .collect()
}
