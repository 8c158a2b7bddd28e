//! Collapsed axes, and the cells that one job builds for all of their values.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use indexmap::IndexMap;

use super::compact_jobs::{CompactJobBuilder, JobList};
use super::interned_values::{CompactJob, InternedValues};
use super::naming::CellValues;
use crate::config::{AxisRole, MatrixConfig, ParsedValue, RecipeBackend};
use crate::matrix::{AxisSpace, CellRank};

/// The cells that a collapsed job covers. Not every combination of their values has to be one of
/// them: a rule may exclude it.
#[derive(Debug)]
pub(super) struct CoveredCells {
    /// The positions of the collapsed axes, on which alone the cells differ.
    pub(super) axes: Vec<usize>,
    /// The cells in ascending order, including that of the job.
    pub(super) cells: Vec<CellRank>,
}

impl CoveredCells {
    /// Returns the indexes of the values of an axis, in ascending order.
    pub(super) fn values(&self, space: &AxisSpace, axis: usize) -> Vec<usize> {
        values(space, axis, &self.cells)
    }

    /// Returns the cells as products, each a list of value indexes for each of the axes.
    pub(super) fn products(&self, space: &AxisSpace) -> Vec<Vec<Vec<usize>>> {
        products(space, &self.axes, &self.cells)
    }
}

fn values(space: &AxisSpace, axis: usize, cells: &[CellRank]) -> Vec<usize> {
    let mut values: Vec<usize> = cells.iter().map(|cell| space.index(*cell, axis)).collect();
    values.sort_unstable();
    values.dedup();
    values
}

/// Splits cells into products of value indexes on these axes: values of the first axis whose cells
/// have the same values on the others are in one product.
fn products(space: &AxisSpace, axes: &[usize], cells: &[CellRank]) -> Vec<Vec<Vec<usize>>> {
    let [first, others @ ..] = axes else {
        return vec![Vec::new()];
    };
    if others.is_empty() {
        return vec![vec![values(space, *first, cells)]];
    }
    let mut by_value: BTreeMap<usize, Vec<CellRank>> = BTreeMap::new();
    for &cell in cells {
        let value = space.index(cell, *first);
        by_value.entry(value).or_default().push(cell);
    }
    let mut by_others: IndexMap<Vec<Vec<Vec<usize>>>, Vec<usize>> = IndexMap::new();
    for (value, cells) in by_value {
        let of_others = products(space, others, &cells);
        by_others.entry(of_others).or_default().push(value);
    }
    let mut all = Vec::new();
    for (of_others, values) in by_others {
        for product in of_others {
            all.push([vec![values.clone()], product].concat());
        }
    }
    all
}

impl CompactJobBuilder<'_> {
    /// Returns the legs that jobs cover: with collapsed axes, those that can have a job themselves,
    /// so that no job covers a cell without code for its targets. The others are added to
    /// `cells_without_job`.
    pub(super) fn collapsible_legs<'l>(
        &self,
        list: &mut JobList,
        legs: &'l [CellRank],
    ) -> Cow<'l, [CellRank]> {
        if self.has_no_collapsed_axes() {
            return Cow::Borrowed(legs);
        }
        let mut with_job = Vec::with_capacity(legs.len());
        for &cell in legs {
            let device_code = self.device_code_of(&mut list.interned, cell);
            if list.interned.device_codes.get(device_code).no_job.is_none() {
                with_job.push(cell);
            } else {
                list.cells_without_job.push((cell, device_code));
            }
        }
        Cow::Owned(with_job)
    }

    /// Whether no backend has collapsed axes.
    pub(super) fn has_no_collapsed_axes(&self) -> bool {
        let mut backends = self.axes_of_backends.iter();
        backends.all(|(_, axes)| axes.is_empty())
    }

    /// Returns the axes that are collapsed for this cell's backend.
    pub(super) fn collapsed_axes(&self, values: &CellValues<'_>) -> &[usize] {
        let of_backend = self
            .axes_of_backends
            .iter()
            .find(|(backend, _)| std::ptr::eq(*backend, values.backend));
        of_backend.map_or(&[], |(_, axes)| axes)
    }

    /// Whether the axis with this role is collapsed for this cell's backend.
    pub(super) fn is_collapsed(&self, role: AxisRole, values: &CellValues<'_>) -> bool {
        let axis = self.axis_of_role.get(&role);
        axis.is_some_and(|axis| self.collapsed_axes(values).contains(axis))
    }

    /// Returns the cell with the first values of these axes, which identifies a collapsed job.
    pub(super) fn clear_axes(&self, cell: CellRank, axes: &[usize]) -> CellRank {
        axes.iter()
            .fold(cell, |cell, &axis| self.space.with(cell, axis, 0))
    }

    /// Returns the cell that each collapsed job is built as, by [`Self::clear_axes`]: the one with
    /// the lowest Python, where free-threaded versions come last, and the first of several.
    pub(super) fn built_cells(&self, legs: &[CellRank]) -> HashMap<CellRank, CellRank> {
        let mut built_cells: HashMap<CellRank, CellRank> = HashMap::new();
        if self.has_no_collapsed_axes() {
            return built_cells;
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
                let key = self.clear_axes(cell, axes);
                let built = built_cells.entry(key).or_insert(cell);
                if python(cell) < python(*built) {
                    *built = cell;
                }
            }
        }
        built_cells
    }
}

/// Adds a cell to those that a job covers.
pub(super) fn add_covered_cell(
    interned: &mut InternedValues,
    job: &mut CompactJob,
    axes: &[usize],
    cell: CellRank,
) {
    let covered = &mut interned.covered;
    if job.covers == 0 {
        covered.push(CoveredCells {
            axes: axes.to_vec(),
            cells: Vec::new(),
        });
        job.covers = u32::try_from(covered.len()).expect("fewer than 2^32 jobs fit in memory");
    }
    covered[job.covers as usize - 1].cells.push(cell);
}

/// Returns the collapsed axes of a backend: those that the recipe always collapses, and the
/// collapsible ones that the matrix file selects.
pub(super) fn axes_to_collapse(
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
