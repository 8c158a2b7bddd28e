//! The cells that a command line selects by values of axes.

use super::axis_space::AxisColumn;
use crate::config::{AxisRole, AxisValue, ParsedValue};

/// Values of axes that cells must have. The default selects every cell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CellSelection {
    /// Axes and values; several values of an axis are alternatives.
    values: Vec<(String, String)>,
}

impl CellSelection {
    /// Creates a selection of pairs of axis and value.
    pub fn new(values: Vec<(String, String)>) -> Self {
        Self { values }
    }

    /// Whether every cell is selected.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Whether cells with this value of an axis may be selected. GPU targets match a value that
    /// contains them.
    pub fn allows(&self, axis: &str, value: &AxisValue) -> bool {
        let is_value = |text: &str| match &value.value {
            ParsedValue::Gfx(targets) => targets.iter().any(|target| target.to_string() == text),
            _ => value.text == text,
        };
        let mut alternatives = self.values.iter().filter(|(of, _)| of == axis).peekable();
        alternatives.peek().is_none() || alternatives.any(|(_, text)| is_value(text))
    }

    /// Returns for each value of an axis whether cells with it may be selected. Cells without a
    /// value may be if no value of the axis is given, and if it is that of GPU targets, because the
    /// matrix file has targets for them.
    pub(super) fn allowed_values(&self, column: &AxisColumn) -> Vec<bool> {
        let allows_absent =
            column.role == AxisRole::Gfx || self.values.iter().all(|(of, _)| *of != column.name);
        let values = column.values.iter().map(Option::as_ref);
        values
            .map(|value| value.map_or(allows_absent, |value| self.allows(&column.name, value)))
            .collect()
    }
}
