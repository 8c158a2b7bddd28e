//! The result of planning a new label or tag.

use super::WheelEdits;
use rock_diagnostic::Diagnostic;
use rock_names::WheelName;

/// A plan to rename a wheel, created by [`relabel`](crate::relabel),
/// [`remove_label`](crate::remove_label) or [`retag`](crate::retag).
#[derive(Debug, Clone)]
pub struct RenamePlan<'c> {
    /// The new filename.
    pub name: WheelName,
    /// The edits that make the contents match it.
    pub edits: WheelEdits<'c>,
    /// Findings about the result, such as modules with another version.
    pub findings: Vec<Diagnostic>,
}
