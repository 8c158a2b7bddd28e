//! Severity and the entry type of the registry.

use std::fmt;

/// How bad a diagnostic is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The command fails.
    Error,
    /// Work goes on; a person should look.
    Warning,
    /// Worth knowing.
    Note,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        })
    }
}

/// One registered diagnostic code.
///
/// The letter says the subject: M matrix, K facts, P plan, B build, W wheel container, E ELF, R
/// ROCm findings, C checkout, G GitHub, S SDK, H host.
#[derive(Debug, PartialEq, Eq)]
pub struct Code {
    /// A letter and three digits, `M001`. Never reused.
    pub id: &'static str,
    /// Kebab-case name, `duplicate-key`.
    pub name: &'static str,
    /// The severity it has unless said otherwise.
    pub severity: Severity,
    /// What it means, why it matters, and what to do: a few short paragraphs of Markdown for
    /// `explain`.
    pub explanation: &'static str,
}

impl Code {
    /// An error code.
    pub const fn error(id: &'static str, name: &'static str, explanation: &'static str) -> Self {
        Self {
            id,
            name,
            severity: Severity::Error,
            explanation,
        }
    }

    /// A warning code.
    pub const fn warning(id: &'static str, name: &'static str, explanation: &'static str) -> Self {
        Self {
            id,
            name,
            severity: Severity::Warning,
            explanation,
        }
    }

    /// An informational code.
    pub const fn note(id: &'static str, name: &'static str, explanation: &'static str) -> Self {
        Self {
            id,
            name,
            severity: Severity::Note,
            explanation,
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.id, self.name)
    }
}
