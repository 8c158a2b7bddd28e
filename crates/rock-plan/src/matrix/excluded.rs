//! Cells that yield no leg, and why.

use indexmap::IndexMap;

use rock_diagnostic::Code;

/// A set of cells left out for one reason: all that match the partial axes and were not left out
/// before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExclusionRow {
    /// Axis name → value; axes not named may have any value.
    pub axes: IndexMap<String, String>,
    /// How many cells this row stands for.
    pub count: u64,
    /// The rule.
    pub code: &'static Code,
    /// Why, in one line.
    pub reason: String,
    /// What would be legal instead; empty when nothing is known.
    pub hint: String,
    /// Table, row and date the reason rests on; empty for the user's own rules.
    pub source: String,
}
