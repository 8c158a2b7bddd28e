//! Axes with all their values, and cells as numbers.

use std::collections::HashMap;

use indexmap::IndexMap;

use crate::config::{Axis, AxisRole, AxisValue, CellRow, MatrixConfig, ParsedValue};

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
    pub product: usize,
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

/// The number of cells exceeds 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the axes have more than 2^64 cells")]
pub struct TooManyCells;

impl AxisSpace {
    /// Collects the axes and all values of the product and of explicit cells.
    ///
    /// # Errors
    /// If the number of cells does not fit in 64 bits.
    pub fn new(config: &MatrixConfig) -> Result<Self, TooManyCells> {
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
            if column.product == 0 || !config.rows.iter().all(named) {
                column.values.push(None);
            }
        }
        let mut stride = 1_u64;
        for column in axes.iter_mut().rev() {
            column.stride = stride;
            stride = stride
                .checked_mul(column.values.len() as u64)
                .ok_or(TooManyCells)?;
        }
        Ok(Self { axes })
    }

    /// Returns the axes in the order of the file.
    pub fn axes(&self) -> &[AxisColumn] {
        &self.axes
    }

    /// Returns the position of the axis with this role.
    pub fn position(&self, role: AxisRole) -> Option<usize> {
        self.axes.iter().position(|column| column.role == role)
    }

    /// Returns the number of cells of the product; 0 without axes.
    pub fn cell_count(&self) -> u64 {
        if self.axes.iter().all(|column| column.product == 0) {
            return 0;
        }
        self.axes
            .iter()
            .map(|column| column.product.max(1) as u64)
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
    pub fn cell_of(&self, row: &CellRow) -> CellRank {
        let index = |column: &AxisColumn| match row.axes.get(&column.name) {
            Some(value) => column.index_of(&value.text),
            None => column.absent(),
        };
        CellRank(
            self.axes
                .iter()
                .map(|column| column.stride * index(column).unwrap_or(0) as u64)
                .sum(),
        )
    }

    /// Whether a row names a value that is not part of the product.
    pub fn has_value_beyond_product(&self, row: &CellRow) -> bool {
        row.axes.iter().any(|(name, value)| {
            let column = self.axes.iter().find(|column| column.name == *name);
            column.is_none_or(|column| {
                column
                    .index_of(&value.text)
                    .is_none_or(|index| index >= column.product)
            })
        })
    }

    /// Whether a cell belongs to the product.
    pub fn is_in_product(&self, cell: CellRank) -> bool {
        self.axes
            .iter()
            .enumerate()
            .all(|(axis, column)| column.product_index(self.index(cell, axis)))
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
            product: column.values.len(),
            ..column
        }
    }

    fn new(name: &str, role: AxisRole) -> Self {
        Self {
            name: name.to_owned(),
            role,
            values: Vec::new(),
            product: 0,
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
        let role = match &value.value {
            ParsedValue::Package(_) => AxisRole::Package,
            ParsedValue::Python(_) => AxisRole::Python,
            ParsedValue::Torch(_) => AxisRole::Torch,
            ParsedValue::Rocm(_) => AxisRole::Rocm,
            ParsedValue::Gfx(_) => AxisRole::Gfx,
            ParsedValue::Text(_) if name == "backend" => AxisRole::Backend,
            ParsedValue::Text(_) => AxisRole::Field,
        };
        Self::new(name, role)
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
    fn product_index(&self, index: usize) -> bool {
        if self.product == 0 {
            self.values[index].is_none()
        } else {
            index < self.product
        }
    }

    /// Returns the range of value indexes in the product.
    pub fn product_range(&self) -> std::ops::Range<usize> {
        match (self.product, self.absent()) {
            (0, Some(absent)) => absent..absent + 1,
            (product, _) => 0..product,
        }
    }
}
