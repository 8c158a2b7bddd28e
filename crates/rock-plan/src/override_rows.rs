//! The overrides that `rows` and `include` make for the cells that they match.

use crate::config::{CellRow, MatrixConfig, RowOverrides};
use crate::matrix::{AxisSpace, AxisValueIndex, CellRank, PartialCells};

/// The rows that override something.
#[derive(Debug)]
pub(super) struct OverrideRows<'a> {
    rows: Vec<OverrideRow<'a>>,
    /// The cells that they match, by row number.
    cells: PartialCells,
}

/// A row that overrides something.
#[derive(Debug)]
struct OverrideRow<'a> {
    set: &'a RowOverrides,
    /// Its path in the file: `rows[3]`, `include[0].set`.
    path: String,
}

impl<'a> OverrideRows<'a> {
    pub(super) fn new(config: &'a MatrixConfig, space: &AxisSpace) -> Self {
        let overriding = |(path, row): (String, &'a CellRow)| {
            let value = |(name, value): (&String, &crate::config::AxisValue)| {
                let axis = space.position_of_name(name)?;
                let value = space.axes()[axis].index_of(&value.text)?;
                Some(AxisValueIndex { axis, value })
            };
            let cell: Vec<AxisValueIndex> = row.axes.iter().map(value).collect::<Option<_>>()?;
            Some((
                cell,
                OverrideRow {
                    set: &row.set,
                    path,
                },
            ))
        };
        let rows = config
            .rows
            .iter()
            .enumerate()
            .map(|(number, row)| (format!("rows[{number}]"), row));
        let include = config
            .include
            .iter()
            .enumerate()
            .map(|(number, row)| (format!("include[{number}].set"), row));
        let all = rows
            .chain(include)
            .filter(|(_, row)| row.set != RowOverrides::default());
        let (cells, rows): (Vec<_>, Vec<_>) = all.filter_map(overriding).unzip();
        Self {
            rows,
            cells: PartialCells::new(cells.into_iter()),
        }
    }

    /// Returns the rows that match this cell, in the order of the file.
    pub(super) fn matching(&self, space: &AxisSpace, cell: CellRank) -> Vec<usize> {
        self.cells.matching(space, cell)
    }

    /// Returns the path in the file of a job's gfx targets, if one of these rows sets them.
    pub(super) fn path_of_gfx(&self, rows: &[usize]) -> Option<String> {
        let row = rows
            .iter()
            .rev()
            .map(|&row| &self.rows[row])
            .find(|row| row.set.gfx.is_some())?;
        Some(format!("{}.gfx", row.path))
    }

    /// Returns the combined overrides of these rows; a later row wins.
    pub(super) fn merged(&self, rows: &[usize]) -> RowOverrides {
        rows.iter().map(|&row| self.rows[row].set).fold(
            RowOverrides::default(),
            |mut merged, row| {
                merged.runner = row.runner.clone().or(merged.runner);
                merged.gpu = row.gpu.or(merged.gpu);
                if row.gfx.is_some() {
                    (merged.gfx, merged.families) = (row.gfx.clone(), row.families.clone());
                }
                merged.image = row.image.clone().or(merged.image);
                merged.vars.extend(row.vars.clone());
                merged
            },
        )
    }
}
