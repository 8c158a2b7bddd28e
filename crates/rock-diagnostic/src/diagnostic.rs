//! A diagnostic and its labels.

use super::{Code, Location, Severity};
use crate::counted;
use crate::render::redact_urls;

/// The maximum length of a message, label text or help in bytes. These can quote input of any
/// length.
const MAX_TEXT_BYTES: usize = 2000;
/// Bytes that are kept at the start of a text that is too long.
const HEAD_BYTES: usize = 600;
/// Bytes that are kept at the end of a text that is too long.
const TAIL_BYTES: usize = 200;

/// A message to the user, with a code, locations, notes and help.
///
/// By convention, `message` is a lower-case sentence without a full stop, and `help` is one action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The registered code, printed as `error[M001 duplicate-key]`.
    pub code: &'static Code,
    /// The severity; that of the code unless [`Diagnostic::severity`] replaced it.
    pub severity: Severity,
    /// The problem, in one line.
    pub message: String,
    /// The labels. [`Diagnostic::at`] puts the primary one at the front.
    pub labels: Vec<DiagnosticLabel>,
    /// Added facts, such as the source of a rule.
    pub notes: Vec<String>,
    /// The suggested action.
    pub help: Option<String>,
    /// The number of diagnostics that [`Sink::finish`] left out. Zero except in its final
    /// diagnostic.
    ///
    /// [`Sink::finish`]: crate::Sink::finish
    pub omitted: u32,
}

/// A location with a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiagnosticLabel {
    /// The location that the label points at.
    pub location: Location,
    /// The reason for pointing at this location; may be empty.
    pub text: String,
    /// Whether this is the main location of the diagnostic.
    pub primary: bool,
    /// Locations in other files of which the same is true.
    pub same_in: Vec<Location>,
}

impl Diagnostic {
    /// Creates a diagnostic with the severity of its code and without labels.
    ///
    /// A message longer than 2,000 bytes loses its middle, and the passwords in its URLs, which a
    /// renderer could no longer recognize; so do the texts of labels and help.
    pub fn new(code: &'static Code, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: code.severity,
            message: clip(message.into()),
            labels: Vec::new(),
            notes: Vec::new(),
            help: None,
            omitted: 0,
        }
    }

    /// Sets the primary label. `text` may be empty. An earlier primary label becomes a secondary
    /// one.
    #[must_use]
    pub fn at(mut self, location: Location, text: impl Into<String>) -> Self {
        for label in &mut self.labels {
            label.primary = false;
        }
        self.labels.insert(
            0,
            DiagnosticLabel {
                location,
                text: clip(text.into()),
                primary: true,
                same_in: Vec::new(),
            },
        );
        self
    }

    /// Adds a secondary label.
    #[must_use]
    pub fn also(mut self, location: Location, text: impl Into<String>) -> Self {
        self.labels.push(DiagnosticLabel {
            location,
            text: clip(text.into()),
            primary: false,
            same_in: Vec::new(),
        });
        self
    }

    /// Adds a note.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Sets the suggested action.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(clip(help.into()));
        self
    }

    /// Replaces the severity of the code.
    #[must_use]
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    /// Returns an error as a warning, and other diagnostics as they are.
    #[must_use]
    pub fn error_as_warning(self) -> Self {
        if self.is_error() {
            self.severity(Severity::Warning)
        } else {
            self
        }
    }

    /// Sets the locations in other files of which the same is true as of the primary label, and adds
    /// a note with the number of files if there are any.
    #[must_use]
    pub fn same_in_other_files(mut self, others: Vec<Location>) -> Self {
        if others.is_empty() {
            return self;
        }
        let count = counted(others.len(), "other file");
        if let Some(label) = self.labels.first_mut() {
            label.same_in = others;
        }
        self.note(format!("the same in {count}"))
    }

    /// Returns the locations in other files of which the same is true.
    pub fn other_files(&self) -> impl Iterator<Item = &Location> {
        self.labels.iter().flat_map(|label| &label.same_in)
    }

    /// Returns whether the severity is [`Severity::Error`], with which a command fails.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// Replaces the middle of a text of more than [`MAX_TEXT_BYTES`] with the number of bytes left out.
fn clip(text: String) -> String {
    if text.len() <= MAX_TEXT_BYTES {
        return text;
    }
    let text = redact_urls(&text).into_owned();
    if text.len() <= MAX_TEXT_BYTES {
        return text;
    }
    let head = text.floor_char_boundary(HEAD_BYTES);
    let tail = text.ceil_char_boundary(text.len() - TAIL_BYTES);
    format!(
        "{}… ({} bytes omitted) …{}",
        &text[..head],
        tail - head,
        &text[tail..]
    )
}

#[cfg(test)]
mod tests {
    use super::{Diagnostic, TAIL_BYTES};
    use crate::test_codes as codes;
    use crate::{Location, render};

    #[test]
    fn the_last_primary_label_is_the_only_one() {
        let diagnostic = Diagnostic::new(&codes::BAD_SYNTAX, "x")
            .at(Location::File("a.yaml".into()), "first")
            .at(Location::File("b.yaml".into()), "second");
        let labels = diagnostic.labels.iter();
        assert_eq!(
            labels
                .map(|label| (label.text.as_str(), label.primary))
                .collect::<Vec<_>>(),
            [("second", true), ("first", false)]
        );
    }

    /// Neither half of a clipped text has a part of a password, wherever the cut is.
    #[test]
    fn a_clipped_text_has_no_part_of_a_password() {
        let url = format!("https://user:{}@host/", "secret".repeat(20));
        for tail in (0..=TAIL_BYTES).step_by(10) {
            let text = format!("{}{url}{}", "é".repeat(2000), "b".repeat(tail));
            let diagnostic = Diagnostic::new(&codes::BAD_SYNTAX, text);
            assert!(!diagnostic.message.contains("secret"), "{tail}");
            assert!(!render::human(&[diagnostic], false).contains("secret"));
        }
        let text = format!("{url} {}", "b".repeat(1900));
        let short = Diagnostic::new(&codes::BAD_SYNTAX, text).message;
        assert_eq!(
            short,
            format!("https://user:***@host/ {}", "b".repeat(1900))
        );
    }
}
