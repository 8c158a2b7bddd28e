//! Cells without a leg, with the reasons.

use indexmap::IndexMap;

use super::axis_space::{AxisSpace, AxisValueIndex};
use super::cell_rule::RuleFinding;
use crate::codes::plan as codes;
use rock_diagnostic::Code;

/// A set of cells that are excluded for one reason: those with the values in `axes` that no rule
/// with a higher precedence excludes.
///
/// A cell may match several rows, but it counts for one. The precedence is not that of the rows in
/// an expansion, which are sorted by code and value: the rule whose axes are bound first comes
/// first, then the first one in `rules`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExclusionRow {
    /// Axis names and values; an axis that is not named may have any value.
    pub axes: IndexMap<String, String>,
    /// Number of excluded cells.
    pub count: u64,
    /// The code of the rule.
    pub code: &'static Code,
    /// The reason, in one line.
    pub reason: String,
    /// A supported alternative; empty if none is known.
    pub hint: String,
    /// Table, row and date that the reason is based on; empty for the user's own rules.
    pub source: String,
}

impl ExclusionRow {
    /// Creates the row of the cells that a finding excludes.
    pub(super) fn of(space: &AxisSpace, found: &RuleFinding, count: u64) -> Self {
        let text = |at: &AxisValueIndex| {
            let column = &space.axes()[at.axis];
            let value = column.values[at.value].as_ref()?;
            Some((column.name.clone(), value.text.clone()))
        };
        let reason = &found.outcome.reason;
        Self {
            axes: found.sorted_values().iter().filter_map(text).collect(),
            count,
            code: found.outcome.code,
            reason: reason.reason.clone(),
            hint: reason.hint_text(),
            source: reason.source.clone(),
        }
    }
}

/// The tables of the compatibility data with the rows that decide about cells, by the code of the
/// rule.
const TABLES: [(&Code, &str); 8] = [
    (&codes::TORCH_WITHOUT_ROCM, "torch"),
    (&codes::TORCH_WITHOUT_PYTHON, "torch"),
    (&codes::TORCH_NOT_IN_IMAGE, "images"),
    (&codes::BACKEND_NOT_IN_VERSION, "packages"),
    (&codes::PYTHON_TOO_OLD, "packages"),
    (&codes::IMPORT_CONFLICT, "import-requirements"),
    (&codes::IMPORT_UNTRIED, "import-requirements"),
    (&codes::FAMILY_NOT_SUPPORTED, "unsupported-families"),
];

/// Returns the command that shows the table with the rows that a rule is based on; `None` for a
/// rule that reads no table.
pub fn table_command(code: &Code) -> Option<String> {
    let (_, table) = TABLES.iter().find(|(known, _)| known.id == code.id)?;
    Some(format!("rock-matrix compat list {table}"))
}
