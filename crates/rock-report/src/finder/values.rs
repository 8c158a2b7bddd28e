//! Columns with repeated values, stored as distinct values and indexes.

use serde_json::Value;

/// The distinct values in the order of their first use, and the index of the value of each row.
#[derive(Debug, Default)]
pub(super) struct ValueColumn {
    values: Vec<Value>,
    positions: std::collections::BTreeMap<String, usize>,
    rows: Vec<usize>,
}

impl ValueColumn {
    /// Builds the column from the values of its rows.
    pub(super) fn of(rows: impl Iterator<Item = Value>) -> Self {
        let mut column = Self::default();
        for value in rows {
            let next = column.values.len();
            let at = *column.positions.entry(value.to_string()).or_insert(next);
            if at == next {
                column.values.push(value);
            }
            column.rows.push(at);
        }
        column
    }

    /// Returns the distinct values and the indexes of the rows as JSON.
    pub(super) fn into_parts(self) -> (Value, Value) {
        (self.values.into(), self.rows.into())
    }
}
