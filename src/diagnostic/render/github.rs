//! The github form.

use crate::diagnostic::Diagnostic;

/// Renders diagnostics.
pub fn github(diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(|d| format!("{}[{}]: {}\n", d.severity, d.code, d.message)).collect()
}
