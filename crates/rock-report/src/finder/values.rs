//! A column of equal values as a list of values and positions in it.

use serde_json::Value;

/// Values in the order of their first use, and for each row the position of its value.
#[derive(Debug, Default)]
pub(super) struct ValueColumn {
    values: Vec<Value>,
    positions: std::collections::BTreeMap<String, usize>,
    rows: Vec<usize>,
}

impl ValueColumn {
    /// The column of these rows.
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

    /// Its values and its rows.
    pub(super) fn into_parts(self) -> (Value, Value) {
        (self.values.into(), self.rows.into())
    }
}
