//! Collects findings about one file.

use std::collections::BTreeMap;

use crate::codes::wheel as codes;
use rock_diagnostic::{Code, Diagnostic, Location, Severity, Sink};

/// Maximum number of findings per code about one file. Of more, a further finding with the same code
/// has the number of those that were left out.
pub const MAX_FINDINGS: usize = 50;

/// The findings about a wheel, or another archive.
pub(in super::super) struct FindingCollector {
    /// Name or path of the file, as shown in findings.
    pub(in super::super) wheel: String,
    sink: Sink,
}

impl FindingCollector {
    pub(in super::super) fn new(wheel: String) -> Self {
        Self {
            wheel,
            sink: Sink::new(),
        }
    }

    /// Creates a finding located in a member, without adding it.
    pub(in super::super) fn member(
        &self,
        code: &'static Code,
        member: &str,
        message: String,
    ) -> Diagnostic {
        let place = Location::Member {
            wheel: self.wheel.clone(),
            member: member.to_owned(),
        };
        Diagnostic::new(code, message).at(place, "")
    }

    /// Creates a finding about a missing or invalid header, without adding it.
    pub(super) fn invalid_header(&self, member: &str, message: String) -> Diagnostic {
        self.member(&codes::BAD_WHEEL_HEADER, member, message)
    }

    /// Adds a finding.
    pub(in super::super) fn push(&mut self, finding: Diagnostic) {
        self.sink.push(finding);
    }

    /// Adds findings.
    pub(super) fn extend(&mut self, findings: Vec<Diagnostic>) {
        self.sink.extend(findings);
    }

    /// Returns whether any finding is an error.
    pub(super) fn has_errors(&self) -> bool {
        self.sink.has_errors()
    }

    /// Returns all findings.
    pub(in super::super) fn finish(self) -> Vec<Diagnostic> {
        self.sink.finish()
    }

    /// Returns at most [`MAX_FINDINGS`] findings for each code, and a count of the others.
    pub(super) fn finish_truncated(self) -> Vec<Diagnostic> {
        let mut counts: BTreeMap<&str, (usize, &'static Code, Severity)> = BTreeMap::new();
        let mut kept: Vec<Diagnostic> = self
            .sink
            .finish()
            .into_iter()
            .filter(|finding| {
                let (count, ..) =
                    counts
                        .entry(finding.code.id)
                        .or_insert((0, finding.code, finding.severity));
                *count += 1;
                *count <= MAX_FINDINGS
            })
            .collect();
        for (count, code, severity) in counts.into_values() {
            if count > MAX_FINDINGS {
                let message = format!("{} more findings of this kind", count - MAX_FINDINGS);
                let place = Location::File(self.wheel.as_str().into());
                kept.push(
                    Diagnostic::new(code, message)
                        .severity(severity)
                        .at(place, ""),
                );
            }
        }
        kept
    }
}
