//! The collector of diagnostics.

use super::{Diagnostic, Severity};
use crate::codes::limit::MORE_FAULTS;

/// The maximum number of diagnostics that a sink keeps. A file of some megabytes can have more
/// errors than anybody reads, and rendering each one searches the text for its line.
const MAX_DIAGNOSTICS: usize = 1000;

/// A collector of diagnostics, so that one run reports all errors.
///
/// It keeps 1,000 diagnostics, errors before others, and counts the rest.
#[derive(Debug, Default)]
pub struct Sink {
    diagnostics: Vec<Diagnostic>,
    errors: usize,
    kept_errors: usize,
    warnings: usize,
    dropped: usize,
}

impl Sink {
    /// Creates an empty sink.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a diagnostic. More than 1,000 are only counted; [`Self::finish`] reports the number.
    /// The final note of another sink adds its [number](Diagnostic::omitted) to that of this one.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        if diagnostic.omitted > 0 {
            self.dropped += diagnostic.omitted as usize;
            return;
        }
        let is_error = diagnostic.is_error();
        self.errors += usize::from(is_error);
        self.warnings += usize::from(diagnostic.severity == Severity::Warning);
        // Errors take precedence over the warnings and notes that were kept.
        if self.diagnostics.len() < MAX_DIAGNOSTICS
            || (is_error && self.kept_errors < MAX_DIAGNOSTICS)
        {
            self.kept_errors += usize::from(is_error);
            self.diagnostics.push(diagnostic);
        } else {
            self.dropped += 1;
        }
    }

    /// Returns whether further diagnostics are only counted, so that callers need not create them.
    pub fn is_full(&self) -> bool {
        self.kept_errors >= MAX_DIAGNOSTICS
    }

    /// Returns the number of errors, including repeated ones.
    pub fn error_count(&self) -> usize {
        self.errors
    }

    /// Returns the numbers of errors and warnings that [`Self::finish`] returns or counts. Equal
    /// diagnostics count once, unless the sink overflowed: to find them, this sorts and merges the
    /// diagnostics kept so far, as [`Self::diagnostics`] does.
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

    /// Returns whether there is an error.
    pub fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// Sorts and merges the diagnostics kept so far as [`Self::finish`] does, and returns them.
    /// Later ones can still be added.
    pub fn diagnostics(&mut self) -> &[Diagnostic] {
        self.sort();
        &self.diagnostics
    }

    /// Returns whether there are no diagnostics.
    pub fn is_empty(&self) -> bool {
        self.diagnostics.is_empty()
    }

    /// Sorts the diagnostics and merges equal ones.
    fn sort(&mut self) {
        self.diagnostics.sort_by_cached_key(|d| {
            let location = d.labels.first().map(|label| label.location.sort_key());
            (
                location.is_none(),
                location.unwrap_or_default(),
                d.code.id,
                d.message.clone(),
            )
        });
        self.diagnostics.dedup();
    }

    /// Returns the diagnostics, sorted by the location of the first label, then by code and
    /// message. Diagnostics without a location are last; equal ones are merged. If some were not
    /// kept, a final note reports their number.
    pub fn finish(mut self) -> Vec<Diagnostic> {
        self.sort();
        // Errors that came after the warnings exceeded the limit; drop warnings for them.
        let mut spare = MAX_DIAGNOSTICS.saturating_sub(self.kept_errors);
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
            let message = format!("{} more diagnostics are not shown", self.dropped);
            self.diagnostics.push(Diagnostic {
                omitted: u32::try_from(self.dropped).unwrap_or(u32::MAX),
                ..Diagnostic::new(&MORE_FAULTS, message).help("fix these first")
            });
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
    use super::{MAX_DIAGNOSTICS, Sink};
    use crate::Diagnostic;
    use crate::test_codes as codes;

    /// Beyond the limit diagnostics are counted, and no error is lost among warnings.
    #[test]
    fn diagnostics_beyond_the_limit_are_counted() {
        let mut sink = Sink::new();
        for number in 0..MAX_DIAGNOSTICS + 5 {
            sink.push(Diagnostic::new(&codes::IDLE_ENTRY, number.to_string()));
        }
        assert!(!sink.has_errors());
        sink.push(Diagnostic::new(&codes::BAD_SYNTAX, "the error"));
        sink.push(Diagnostic::new(&codes::BAD_SYNTAX, "another"));
        assert_eq!(
            (sink.error_count(), sink.counts()),
            (2, (2, MAX_DIAGNOSTICS + 5))
        );
        let found = sink.finish();
        assert_eq!(
            found.iter().filter(|d| d.is_error()).count(),
            2,
            "no error is lost among warnings"
        );
        assert_eq!(
            found.last().unwrap().message,
            "7 more diagnostics are not shown"
        );
        assert_eq!(found.last().unwrap().code, &super::MORE_FAULTS);
        assert_eq!(found.last().unwrap().omitted, 7);
        let mut outer = Sink::new();
        outer.push(Diagnostic::new(&codes::IDLE_ENTRY, "a warning"));
        outer.extend(found);
        assert_eq!(
            outer.finish().last().unwrap().message,
            "8 more diagnostics are not shown"
        );
    }
}
