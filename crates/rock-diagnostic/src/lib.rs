//! What a user is told: one shape for every message, one registry of codes, one renderer a format.
//!
//! Input: facts found by the layers above. Output: [`Diagnostic`] values collected in a [`Sink`],
//! and text made of them by [`render`].
//!
//! **Invariant:** nothing here reads a file or prints; renderers return text.

mod code;
pub mod codes;
mod counted;
mod location;
pub mod markdown;
pub mod nearest;
pub mod render;
mod shell_word;
mod sink;
#[cfg(test)]
mod test_codes;

pub use code::{Code, Severity};
pub use counted::{Count, counted, is_or_are};
pub use location::{DiagnosticLabel, Location, SourceText, Span};
pub use shell_word::{shell_line, shell_quoted};
pub use sink::Sink;

/// One message to the user.
///
/// `message` is lower case, without a full stop, in the user's words; `labels` say why this spot;
/// `notes` say where the knowledge comes from; `help` is one thing to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The registered code, printed as `error[M001 duplicate-key]`.
    pub code: &'static Code,
    /// How bad it is; taken from the code unless a caller lowers or raises it.
    pub severity: Severity,
    /// The fact, one line.
    pub message: String,
    /// Places, the primary one first.
    pub labels: Vec<DiagnosticLabel>,
    /// Where the knowledge comes from.
    pub notes: Vec<String>,
    /// One thing to do.
    pub help: Option<String>,
}

/// The longest text of a message in bytes; what is quoted in one can be as long as a file.
const LONGEST_TEXT: usize = 2000;
/// How much of a text that is too long stands before and after what is left out.
const ENDS: [usize; 2] = [600, 200];

fn clipped(text: String) -> String {
    if text.len() <= LONGEST_TEXT {
        return text;
    }
    let head = text.floor_char_boundary(ENDS[0]);
    let tail = text.ceil_char_boundary(text.len() - ENDS[1]);
    format!(
        "{}… ({} bytes left out) …{}",
        &text[..head],
        tail - head,
        &text[tail..]
    )
}

impl Diagnostic {
    /// A diagnostic with the code's own severity and no place yet.
    pub fn new(code: &'static Code, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: code.severity,
            message: clipped(message.into()),
            labels: Vec::new(),
            notes: Vec::new(),
            help: None,
        }
    }

    /// Adds the primary place with the reason for this spot (may be empty).
    #[must_use]
    pub fn at(mut self, place: Location, text: impl Into<String>) -> Self {
        self.labels.insert(
            0,
            DiagnosticLabel {
                location: place,
                text: clipped(text.into()),
                primary: true,
            },
        );
        self
    }

    /// Adds a secondary place.
    #[must_use]
    pub fn also(mut self, place: Location, text: impl Into<String>) -> Self {
        self.labels.push(DiagnosticLabel {
            location: place,
            text: clipped(text.into()),
            primary: false,
        });
        self
    }

    /// Adds a note.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Sets the one thing to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(clipped(help.into()));
        self
    }

    /// Sets another severity than the code's own.
    #[must_use]
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    /// Whether this makes a command fail.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
