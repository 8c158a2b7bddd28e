//! What relabelling and retagging come down to.

use super::WheelEdits;
use rock_diagnostic::Diagnostic;
use rock_names::WheelName;

/// A wheel under another name.
#[derive(Debug, Clone)]
pub struct RenamePlan<'c> {
    /// The new file name.
    pub name: WheelName,
    /// What changes inside.
    pub edits: WheelEdits<'c>,
    /// What a person should know.
    pub findings: Vec<Diagnostic>,
}
