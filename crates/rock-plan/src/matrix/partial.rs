//! Partial cells: values for some of the axes, which match all cells with these values.

use std::collections::HashMap;

use super::axis_space::{AxisSpace, AxisValueIndex, CellRank};

/// Partial cells grouped by the axes that they name, so that a cell is not compared with each of
/// them.
#[derive(Debug, Default)]
pub struct PartialCells {
    groups: Vec<PartialGroup>,
}

/// Partial cells that name the same axes.
#[derive(Debug)]
struct PartialGroup {
    axes: Vec<usize>,
    /// Numbers of the partial cells, by their value indexes on `axes`.
    by_values: HashMap<Vec<usize>, Vec<usize>>,
}

impl PartialCells {
    /// Collects partial cells, each a list of values, and numbers them in this order.
    pub fn new(cells: impl Iterator<Item = Vec<AxisValueIndex>>) -> Self {
        let (mut groups, mut positions) = (Vec::<PartialGroup>::new(), HashMap::new());
        for (number, mut cell) in cells.enumerate() {
            cell.sort_unstable();
            let (axes, values): (Vec<usize>, Vec<usize>) =
                cell.iter().map(|at| (at.axis, at.value)).unzip();
            let position = *positions.entry(axes.clone()).or_insert_with(|| {
                groups.push(PartialGroup {
                    axes,
                    by_values: HashMap::new(),
                });
                groups.len() - 1
            });
            groups[position]
                .by_values
                .entry(values)
                .or_default()
                .push(number);
        }
        Self { groups }
    }

    /// Returns the numbers of the partial cells that a cell matches, in ascending order.
    pub fn matching(&self, space: &AxisSpace, cell: CellRank) -> Vec<usize> {
        let in_group = |group: &PartialGroup| {
            let values: Vec<usize> = group
                .axes
                .iter()
                .map(|axis| space.index(cell, *axis))
                .collect();
            group.by_values.get(&values).cloned().unwrap_or_default()
        };
        let mut numbers: Vec<usize> = self.groups.iter().flat_map(in_group).collect();
        numbers.sort_unstable();
        numbers
    }
}
