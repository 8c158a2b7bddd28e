//! Axes with all their values, and cells as numbers.

use std::collections::HashMap;

use indexmap::IndexMap;

use super::limits::MatrixSizeError;
use crate::config::{Axis, AxisRole, AxisValue, CellRow, MatrixConfig};

/// The axes of one matrix file with every value that the product, `rows` or `include` name.
///
/// A cell is represented by its rank: the mixed-radix number of its value indexes, with the first
/// axis as the most significant digit. [`AxisSpace::new`] ensures that ranks fit in 64 bits.
#[derive(Debug, Clone)]
pub struct AxisSpace {
    axes: Vec<AxisColumn>,
}

/// An axis with all its values.
#[derive(Debug, Clone)]
pub struct AxisColumn {
    /// The name as written.
    pub name: String,
    /// The meaning of its values.
    pub role: AxisRole,
    /// All values, starting with those of the product. `None` is the absent value, for cells that
    /// do not name this axis.
    pub values: Vec<Option<AxisValue>>,
    /// Number of values that belong to the product.
    pub product_len: usize,
    /// Difference in rank between consecutive values of this axis.
    stride: u64,
    /// Indexes of the values by their text.
    by_text: HashMap<String, usize>,
}

/// The rank of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CellRank(u64);

impl CellRank {
    /// Returns the cell with a rank, the sum of [`AxisSpace::weight`] over its values.
    pub(super) fn new(rank: u64) -> Self {
        Self(rank)
    }
}

/// A value of an axis, by the axis's position and the value's index on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AxisValueIndex {
    /// The position of the axis.
    pub axis: usize,
    /// The index into the values of the axis.
    pub value: usize,
}

impl AxisSpace {
    /// Collects the axes and all values of the product and of explicit cells.
    ///
    /// # Errors
    /// If the number of cells does not fit in 64 bits.
    pub fn new(config: &MatrixConfig) -> Result<Self, MatrixSizeError> {
        let explicit = || config.rows.iter().chain(&config.include);
        let mut axes: Vec<AxisColumn> = config.axes.iter().map(AxisColumn::of_axis).collect();
        for row in explicit() {
            for (name, value) in &row.axes {
                let at = axes
                    .iter()
                    .position(|column| column.name == *name)
                    .unwrap_or_else(|| {
                        axes.push(AxisColumn::of_explicit(name, value));
                        axes.len() - 1
                    });
                axes[at].add(value);
            }
        }
        for column in &mut axes {
            let named = |row: &CellRow| row.axes.contains_key(&column.name);
            if column.product_len == 0 || !config.rows.iter().all(named) {
                column.values.push(None);
            }
        }
        let mut stride = 1_u64;
        for column in axes.iter_mut().rev() {
            column.stride = stride;
            stride = stride
                .checked_mul(column.values.len() as u64)
                .ok_or(MatrixSizeError::Cells)?;
        }
        Ok(Self { axes })
    }

    /// Returns the axes in the order of the file.
    pub fn axes(&self) -> &[AxisColumn] {
        &self.axes
    }

    /// Returns the position of the axis with this role, which is unique except for
    /// [`AxisRole::Field`]: look such axes up by name.
    pub fn position(&self, role: AxisRole) -> Option<usize> {
        self.axes.iter().position(|column| column.role == role)
    }

    /// Returns the position of the axis with this name.
    pub fn position_of_name(&self, name: &str) -> Option<usize> {
        self.axes.iter().position(|column| column.name == name)
    }

    /// Returns the number of cells of the product; 0 without axes.
    pub fn cell_count(&self) -> u64 {
        if self.axes.iter().all(|column| column.product_len == 0) {
            return 0;
        }
        self.axes
            .iter()
            .map(|column| column.product_len.max(1) as u64)
            .product()
    }

    /// Returns the index of a cell's value on an axis.
    pub fn index(&self, cell: CellRank, axis: usize) -> usize {
        let column = &self.axes[axis];
        usize::try_from(cell.0 / column.stride % column.values.len() as u64)
            .expect("an index of a Vec fits usize")
    }

    /// Returns a cell's value on an axis, or `None` if the cell does not name the axis.
    pub fn value(&self, cell: CellRank, axis: usize) -> Option<&AxisValue> {
        self.axes[axis].values[self.index(cell, axis)].as_ref()
    }

    /// Returns the amount that a value index on an axis adds to the rank.
    pub fn weight(&self, axis: usize, index: usize) -> u64 {
        self.axes[axis].stride * index as u64
    }

    /// Returns the cell with another value on one axis.
    pub fn with(&self, cell: CellRank, axis: usize, index: usize) -> CellRank {
        CellRank(cell.0 - self.weight(axis, self.index(cell, axis)) + self.weight(axis, index))
    }

    /// Returns the cell that a row names; axes that it does not name are absent.
    ///
    /// # Panics
    /// If the row is not one of the matrix file, or is an `include` entry that does not name a
    /// single cell: reading the file ensures that a cell outside the product names every axis.
    pub fn cell_of(&self, row: &CellRow) -> CellRank {
        let index = |column: &AxisColumn| match row.axes.get(&column.name) {
            Some(value) => column.index_of(&value.text),
            None => column.absent(),
        };
        CellRank(
            self.axes
                .iter()
                .map(|column| {
                    let index = index(column).expect("a row of the file names a single cell");
                    column.stride * index as u64
                })
                .sum(),
        )
    }

    /// Whether a row names a value that is not part of the product.
    pub fn has_value_beyond_product(&self, row: &CellRow) -> bool {
        row.axes.iter().any(|(name, value)| {
            self.position_of_name(name).is_none_or(|axis| {
                let column = &self.axes[axis];
                column
                    .index_of(&value.text)
                    .is_none_or(|index| index >= column.product_len)
            })
        })
    }

    /// Whether a cell belongs to the product.
    pub fn is_in_product(&self, cell: CellRank) -> bool {
        self.axes
            .iter()
            .enumerate()
            .all(|(axis, column)| column.is_in_product(self.index(cell, axis)))
    }

    /// Returns the axis names and values of a cell, in the order of the file.
    pub fn texts(&self, cell: CellRank) -> IndexMap<String, String> {
        let text = |axis: usize| {
            Some((
                self.axes[axis].name.clone(),
                self.value(cell, axis)?.text.clone(),
            ))
        };
        (0..self.axes.len()).filter_map(text).collect()
    }
}

impl AxisColumn {
    fn of_axis(axis: &Axis) -> Self {
        let mut column = Self::new(&axis.name, axis.role);
        for value in &axis.values {
            column.add(value);
        }
        Self {
            product_len: column.values.len(),
            ..column
        }
    }

    fn new(name: &str, role: AxisRole) -> Self {
        Self {
            name: name.to_owned(),
            role,
            values: Vec::new(),
            product_len: 0,
            stride: 0,
            by_text: HashMap::new(),
        }
    }

    /// Adds a value unless it exists.
    fn add(&mut self, value: &AxisValue) {
        if !self.by_text.contains_key(&value.text) {
            self.by_text.insert(value.text.clone(), self.values.len());
            self.values.push(Some(value.clone()));
        }
    }

    /// Returns the index of the value with this text.
    pub fn index_of(&self, text: &str) -> Option<usize> {
        self.by_text.get(text).copied()
    }

    fn of_explicit(name: &str, value: &AxisValue) -> Self {
        Self::new(name, value.value.role(name))
    }

    /// Returns the index of the absent value, which is the last one, if there is one.
    fn absent(&self) -> Option<usize> {
        self.values
            .last()
            .is_some_and(Option::is_none)
            .then(|| self.values.len() - 1)
    }

    /// Whether a value index belongs to the product. An axis that only explicit cells name is
    /// absent in the product.
    fn is_in_product(&self, index: usize) -> bool {
        if self.product_len == 0 {
            self.values[index].is_none()
        } else {
            index < self.product_len
        }
    }

    /// Returns the range of value indexes in the product.
    pub fn product_range(&self) -> std::ops::Range<usize> {
        match (self.product_len, self.absent()) {
            (0, Some(absent)) => absent..absent + 1,
            (len, _) => 0..len,
        }
    }
}
