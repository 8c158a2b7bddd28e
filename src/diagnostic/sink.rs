//! Collects diagnostics so that one run shows every fault.

use super::{Diagnostic, Severity};

/// A growing list of diagnostics.
#[derive(Debug, Default)]
pub struct Sink {
    diagnostics: Vec<Diagnostic>,
}

impl Sink {
    /// An empty sink.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// How many errors were pushed.
    pub fn error_count(&self) -> usize {
        self.diagnostics.iter().filter(|d| d.is_error()).count()
    }

    /// Whether an error was pushed.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }

    /// Whether nothing at all was pushed.
    pub fn is_empty(&self) -> bool {
        self.diagnostics.is_empty()
    }

    /// The worst severity pushed.
    pub fn worst(&self) -> Option<Severity> {
        self.diagnostics.iter().map(|d| d.severity).min()
    }

    /// All of them, sorted by place, then by code; equal ones once.
    pub fn finish(mut self) -> Vec<Diagnostic> {
        self.diagnostics.sort_by_cached_key(|d| {
            (d.labels.first().map(|l| l.place.sort_key()).unwrap_or_default(), d.code.id, d.message.clone())
        });
        self.diagnostics.dedup();
        self.diagnostics
    }
}

impl Extend<Diagnostic> for Sink {
    fn extend<T: IntoIterator<Item = Diagnostic>>(&mut self, iter: T) {
        self.diagnostics.extend(iter);
    }
}
