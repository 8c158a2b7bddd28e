//! The human form.

use crate::diagnostic::Diagnostic;

/// Renders diagnostics.
pub fn human(diagnostics: &[Diagnostic], color: bool) -> String {
    let _ = color;
    diagnostics.iter().map(|d| format!("{}[{}]: {}\n", d.severity, d.code, d.message)).collect()
}
