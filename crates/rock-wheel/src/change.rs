//! What relabelling and retagging come down to.

use super::Edits;
use rock_diagnostic::Diagnostic;
use rock_names::WheelName;

/// A wheel under another name.
#[derive(Debug, Clone)]
pub struct Change<'c> {
    /// The new file name.
    pub name: WheelName,
    /// What changes inside.
    pub edits: Edits<'c>,
    /// What a person should know.
    pub findings: Vec<Diagnostic>,
}
