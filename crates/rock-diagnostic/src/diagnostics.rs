//! Diagnostics as an error type.

use std::fmt;

use super::{Diagnostic, ExitClass, count_more};

/// The error of a function that reports every problem it finds, not only the first.
///
/// ```
/// use rock_diagnostic::{Code, Diagnostic, Diagnostics, ExitClass};
///
/// const NO_JOBS: Code = Code::error("X001", "no-jobs", "A build needs a job.");
/// const NO_NETWORK: Code =
///     Code::error("X002", "no-network", "…").exits_with(ExitClass::Machine);
///
/// fn check(jobs: u32, is_online: bool) -> Result<(), Diagnostics> {
///     let mut errors = Vec::new();
///     if jobs == 0 {
///         errors.push(Diagnostic::new(&NO_JOBS, "the build has no jobs"));
///     }
///     if !is_online {
///         errors.push(Diagnostic::new(&NO_NETWORK, "the index cannot be reached"));
///     }
///     Diagnostics::check(errors)
/// }
///
/// let errors = check(0, false).unwrap_err();
/// assert_eq!(errors.to_string(), "the build has no jobs (and 1 more)");
/// assert_eq!(errors.exit_class(), ExitClass::Machine);
/// assert!(check(1, true).is_ok());
/// ```
#[derive(Debug, Clone)]
pub struct Diagnostics {
    diagnostics: Vec<Diagnostic>,
    exit_class: ExitClass,
}

impl Diagnostics {
    /// Returns an error with these diagnostics, if there are any.
    ///
    /// # Errors
    /// Returns the diagnostics.
    pub fn check(diagnostics: Vec<Diagnostic>) -> Result<(), Self> {
        if diagnostics.is_empty() {
            Ok(())
        } else {
            Err(diagnostics.into())
        }
    }

    /// Sets the exit class, for a caller that knows better than the codes: an invalid name in an
    /// argument is [`ExitClass::Usage`], and in a file [`ExitClass::Input`].
    #[must_use]
    pub fn exits_with(mut self, exit_class: ExitClass) -> Self {
        self.exit_class = exit_class;
        self
    }

    /// Returns the strongest exit class of the codes, unless it was [set](Self::exits_with).
    pub fn exit_class(&self) -> ExitClass {
        self.exit_class
    }

    /// Returns the diagnostics in order.
    pub fn as_slice(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Returns the diagnostics in order.
    pub fn into_vec(self) -> Vec<Diagnostic> {
        self.diagnostics
    }
}

impl From<Vec<Diagnostic>> for Diagnostics {
    fn from(diagnostics: Vec<Diagnostic>) -> Self {
        let exit_class = diagnostics
            .iter()
            .map(|diagnostic| diagnostic.code.exit_class)
            .max()
            .unwrap_or(ExitClass::Input);
        Self {
            diagnostics,
            exit_class,
        }
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Self {
        vec![diagnostic].into()
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.diagnostics.into_iter()
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((first, rest)) = self.diagnostics.split_first() else {
            return f.write_str("no diagnostics");
        };
        f.write_str(&first.message)?;
        match rest.len() {
            0 => Ok(()),
            count => write!(f, " ({})", count_more(count, "and ")),
        }
    }
}

impl std::error::Error for Diagnostics {}
