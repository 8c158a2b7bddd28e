//! Collects diagnostics so that one run shows every fault.

use super::{Diagnostic, Severity};
use crate::codes::matrix::MORE_FAULTS;

/// Diagnostics that are kept. A file of megabytes can hold more faults than anybody reads, each of
/// which costs a search for its line.
const KEPT: usize = 1000;

/// A growing list of diagnostics.
#[derive(Debug, Default)]
pub struct Sink {
    diagnostics: Vec<Diagnostic>,
    errors: usize,
    kept_errors: usize,
    warnings: usize,
    dropped: usize,
    worst: Option<Severity>,
}

impl Sink {
    /// An empty sink.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one. Beyond a thousand they are counted only; [`Self::finish`] tells how many.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        let is_error = diagnostic.is_error();
        self.errors += usize::from(is_error);
        self.warnings += usize::from(diagnostic.severity == Severity::Warning);
        self.worst = Some(
            self.worst
                .map_or(diagnostic.severity, |worst| worst.min(diagnostic.severity)),
        );
        // An error is worth more than what was kept of the rest.
        if self.diagnostics.len() < KEPT || (is_error && self.kept_errors < KEPT) {
            self.kept_errors += usize::from(is_error);
            self.diagnostics.push(diagnostic);
        } else {
            self.dropped += 1;
        }
    }

    /// Returns whether further errors are counted only, so that nobody needs their places.
    pub fn is_full(&self) -> bool {
        self.kept_errors >= KEPT
    }

    /// How many errors were pushed.
    pub fn error_count(&self) -> usize {
        self.errors
    }

    /// Errors and warnings that [`Self::finish`] tells of or counts.
    pub fn counts(&mut self) -> (usize, usize) {
        if self.dropped > 0 {
            return (self.errors, self.warnings);
        }
        self.sort();
        let count = |severity| {
            self.diagnostics
                .iter()
                .filter(|d| d.severity == severity)
                .count()
        };
        (count(Severity::Error), count(Severity::Warning))
    }

    /// Whether an error was pushed.
    pub fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// What was pushed and kept so far, in the order of [`Self::finish`].
    pub fn diagnostics(&mut self) -> &[Diagnostic] {
        self.sort();
        &self.diagnostics
    }

    /// Whether nothing at all was pushed.
    pub fn is_empty(&self) -> bool {
        self.diagnostics.is_empty()
    }

    /// The worst severity pushed.
    pub fn worst(&self) -> Option<Severity> {
        self.worst
    }

    fn sort(&mut self) {
        self.diagnostics.sort_by_cached_key(|d| {
            let place = d.labels.first().map(|label| label.location.sort_key());
            (
                place.is_none(),
                place.unwrap_or_default(),
                d.code.id,
                d.message.clone(),
            )
        });
        self.diagnostics.dedup();
    }

    /// All of them, sorted by place, then by code; those without a place last; equal ones once.
    pub fn finish(mut self) -> Vec<Diagnostic> {
        self.sort();
        // Room that warnings took before errors came is given back.
        let mut spare = KEPT.saturating_sub(self.kept_errors);
        let before = self.diagnostics.len();
        self.diagnostics.retain(|diagnostic| {
            diagnostic.is_error() || {
                let kept = spare > 0;
                spare -= usize::from(kept);
                kept
            }
        });
        self.dropped += before - self.diagnostics.len();
        if self.dropped > 0 {
            let message = format!("{} more faults are not shown", self.dropped);
            self.diagnostics
                .push(Diagnostic::new(&MORE_FAULTS, message).help("mend these first"));
        }
        self.diagnostics
    }
}

impl Extend<Diagnostic> for Sink {
    fn extend<T: IntoIterator<Item = Diagnostic>>(&mut self, iter: T) {
        iter.into_iter()
            .for_each(|diagnostic| self.push(diagnostic));
    }
}

#[cfg(test)]
mod tests {
    use super::{KEPT, Sink};
    use crate::Diagnostic;
    use crate::test_codes as codes;

    #[test]
    fn what_is_too_much_to_read_is_counted_and_an_error_is_never_lost() {
        let mut sink = Sink::new();
        for number in 0..KEPT + 5 {
            sink.push(Diagnostic::new(&codes::IDLE_ENTRY, number.to_string()));
        }
        assert!(!sink.has_errors());
        sink.push(Diagnostic::new(&codes::BAD_SYNTAX, "the error"));
        sink.push(Diagnostic::new(&codes::BAD_SYNTAX, "another"));
        assert_eq!((sink.error_count(), sink.counts()), (2, (2, KEPT + 5)));
        let found = sink.finish();
        assert_eq!(
            found.iter().filter(|one| one.is_error()).count(),
            2,
            "no error is lost among warnings"
        );
        assert_eq!(found.last().unwrap().message, "7 more faults are not shown");
        assert_eq!(found.last().unwrap().code, &super::MORE_FAULTS);
    }
}
