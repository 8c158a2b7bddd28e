//! The cells that a command line selects by values of axes.

use crate::config::{AxisValue, ParsedValue};

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
}
