//! What `rows` and `include` change for the cells they match.

use std::collections::HashMap;

use crate::config::{Config, Overrides, Row};
use crate::matrix::{Cell, Universe};

/// The rows that change something, found by the value of one axis, so that many rows are not asked of every cell.
#[derive(Debug)]
pub(super) struct Changes<'a> {
    rows: Vec<Changing<'a>>,
    /// The axis that tells the rows apart best.
    axis: usize,
    /// Rows by their value on that axis.
    by_value: HashMap<usize, Vec<usize>>,
    /// Rows that do not name that axis.
    elsewhere: Vec<usize>,
}

/// A row with the values it asks for as numbers.
#[derive(Debug)]
struct Changing<'a> {
    values: Vec<(usize, usize)>,
    set: &'a Overrides,
    /// Where it stands in the file: `rows[3]`, `include[0].set`.
    path: String,
}

impl<'a> Changes<'a> {
    pub(super) fn new(config: &'a Config, universe: &Universe) -> Self {
        let indexes = universe.indexes();
        let position = |name: &str| universe.axes().iter().position(|column| column.name == name);
        let changing = |(path, row): (String, &'a Row)| {
            let value = |(name, value): (&String, &crate::config::AxisValue)| {
                let axis = position(name)?;
                Some((axis, *indexes[axis].get(value.text.as_str())?))
            };
            Some(Changing { values: row.axes.iter().map(value).collect::<Option<_>>()?, set: &row.set, path })
        };
        let rows = config.rows.iter().enumerate().map(|(number, row)| (format!("rows[{number}]"), row));
        let include = config.include.iter().enumerate().map(|(number, row)| (format!("include[{number}].set"), row));
        let all = rows.chain(include).filter(|(_, row)| row.set != Overrides::default());
        let rows: Vec<_> = all.filter_map(changing).collect();
        let by_value = |axis: usize| {
            let (mut by_value, mut elsewhere) = (HashMap::<usize, Vec<usize>>::new(), Vec::new());
            for (number, row) in rows.iter().enumerate() {
                match row.values.iter().find(|(named, _)| *named == axis) {
                    Some((_, index)) => by_value.entry(*index).or_default().push(number),
                    None => elsewhere.push(number),
                }
            }
            (axis, by_value, elsewhere)
        };
        let groups = (0..universe.axes().len()).map(by_value);
        let (axis, by_value, elsewhere) = groups.max_by_key(|(_, values, _)| values.len()).unwrap_or_default();
        Self { rows, axis, by_value, elsewhere }
    }

    /// The rows that match this cell, in the order of the file.
    pub(super) fn matching(&self, universe: &Universe, cell: Cell) -> Vec<usize> {
        if self.rows.is_empty() {
            return Vec::new();
        }
        let here = self.by_value.get(&universe.index(cell, self.axis)).into_iter().flatten();
        let asked = here.chain(&self.elsewhere).copied();
        let has = |&(axis, index): &(usize, usize)| universe.index(cell, axis) == index;
        let mut matching: Vec<usize> = asked.filter(|&row| self.rows[row].values.iter().all(has)).collect();
        matching.sort_unstable();
        matching
    }

    /// Where the gfx targets of a job stand in the file, when one of these rows gives them.
    pub(super) fn path_of_gfx(&self, rows: &[usize]) -> Option<String> {
        let row = rows.iter().rev().map(|&row| &self.rows[row]).find(|row| row.set.gfx.is_some())?;
        Some(format!("{}.gfx", row.path))
    }

    /// What these rows change together; a later row wins.
    pub(super) fn merged(&self, rows: &[usize]) -> Overrides {
        rows.iter().map(|&row| self.rows[row].set).fold(Overrides::default(), |mut merged, row| {
            merged.runner = row.runner.clone().or(merged.runner);
            merged.gpu = row.gpu.or(merged.gpu);
            if row.gfx.is_some() {
                (merged.gfx, merged.families) = (row.gfx.clone(), row.families.clone());
            }
            merged.image = row.image.clone().or(merged.image);
            merged.vars.extend(row.vars.clone());
            merged
        })
    }
}
