//! Cells without a leg, with the reasons.

use indexmap::IndexMap;

use rock_diagnostic::Code;

/// A set of cells that are excluded for one reason: those that match the partial axes and that no
/// earlier rule excluded.
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
