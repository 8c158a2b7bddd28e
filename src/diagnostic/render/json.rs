//! The json form.

use crate::diagnostic::Diagnostic;

/// Renders diagnostics.
pub fn json(diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(|d| format!("{}[{}]: {}\n", d.severity, d.code, d.message)).collect()
}
