//! Diagnostic codes and severities.

use std::fmt;

/// The severity of a diagnostic, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The command fails.
    Error,
    /// The command continues, but the result may not be as intended.
    Warning,
    /// Information only.
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

/// The exit code of a command that fails with a diagnostic, the weakest first. Of several
/// diagnostics, the strongest class counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExitClass {
    /// The input or an artifact is wrong.
    Input,
    /// The machine, the network or credentials are the cause.
    Machine,
    /// The command line is wrong.
    Usage,
}

/// A diagnostic code: the kind of a diagnostic, with its documentation.
///
/// rock-matrix uses these letters: M for matrix files, K compatibility data, P plans, B builds, W
/// wheels, E ELF files, R ROCm findings, C checkouts, G GitHub, S the SDK, H the host.
#[derive(Debug, PartialEq, Eq)]
pub struct Code {
    /// The ID, a letter and three digits, `M001`. It is never reused.
    pub id: &'static str,
    /// The name in kebab case, `duplicate-key`.
    pub name: &'static str,
    /// The severity of a new diagnostic with this code.
    pub severity: Severity,
    /// The exit code of a command that fails with this code.
    pub exit_class: ExitClass,
    /// An explanation of the problem, its consequences and its solution: a few short paragraphs of
    /// Markdown.
    pub explanation: &'static str,
}

impl Code {
    /// Sets the exit class, which is [`ExitClass::Input`] otherwise.
    #[must_use]
    pub const fn exits_with(mut self, exit_class: ExitClass) -> Self {
        self.exit_class = exit_class;
        self
    }

    /// Creates the code of an error.
    pub const fn error(id: &'static str, name: &'static str, explanation: &'static str) -> Self {
        Self {
            id,
            name,
            severity: Severity::Error,
            exit_class: ExitClass::Input,
            explanation,
        }
    }

    /// Creates the code of a warning.
    pub const fn warning(id: &'static str, name: &'static str, explanation: &'static str) -> Self {
        Self {
            id,
            name,
            severity: Severity::Warning,
            exit_class: ExitClass::Input,
            explanation,
        }
    }

    /// Creates the code of a note.
    pub const fn note(id: &'static str, name: &'static str, explanation: &'static str) -> Self {
        Self {
            id,
            name,
            severity: Severity::Note,
            exit_class: ExitClass::Input,
            explanation,
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.id, self.name)
    }
}
