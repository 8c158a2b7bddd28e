//! Where a diagnostic points.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A byte range in a source text.
pub type Span = Range<usize>;

/// A text that can be pointed into: a file as read, under the name the user knows it by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceText {
    /// The name shown to the user, usually the path as given.
    pub path: Arc<str>,
    /// The whole text.
    pub text: Arc<str>,
    /// Arguments that give values in the place of those of the text.
    arguments: Arc<[String]>,
}

impl SourceText {
    /// Wraps a text under a name.
    pub fn new(path: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> Self {
        Self {
            path: path.into(),
            text: text.into(),
            arguments: Arc::default(),
        }
    }

    /// The same text, some of whose values these arguments give instead.
    #[must_use]
    pub fn with_arguments(&self, arguments: Vec<String>) -> Self {
        Self {
            arguments: arguments.into(),
            ..self.clone()
        }
    }

    /// What stands for the place of a value of an argument, by its number: a range that no text
    /// has.
    pub fn argument_span(&self, number: usize) -> Span {
        let beyond = self.text.len() + 1 + number;
        beyond..beyond
    }

    /// The place of a byte range in this text, or of the argument that the range stands for.
    pub fn location(&self, span: Span) -> Location {
        let number = span.start.checked_sub(self.text.len() + 1);
        match number.and_then(|number| self.arguments.get(number)) {
            Some(argument) => Location::Argument(argument.clone()),
            None => Location::Text {
                source: self.clone(),
                span,
            },
        }
    }
}

/// A spot: text with a range, or something that has none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// A byte range of a text.
    Text {
        /// The text pointed into.
        source: SourceText,
        /// The byte range.
        span: Span,
    },
    /// A byte range whose text must not be repeated: it may be a secret.
    SecretText {
        /// The text pointed into.
        source: SourceText,
        /// The byte range.
        span: Span,
    },
    /// A whole file, when no range makes sense (unreadable, not UTF-8).
    File(Arc<str>),
    /// A command line argument.
    Argument(String),
    /// A member of a wheel.
    Member {
        /// The wheel's file name.
        wheel: String,
        /// The member's name inside it.
        member: String,
    },
    /// Something remote, named by its address.
    Url(String),
}

impl Location {
    /// The 1-based line and column (in characters) of the start, where there is a text.
    pub fn line_column(&self) -> Option<(usize, usize)> {
        let (Self::Text { source, span } | Self::SecretText { source, span }) = self else {
            return None;
        };
        let before = source.text.get(..span.start.min(source.text.len()))?;
        let line = before.matches('\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |i| i + 1);
        Some((line, before[start..].chars().count() + 1))
    }

    /// The key that sorts diagnostics: name, then offset.
    pub fn sort_key(&self) -> (String, usize) {
        match self {
            Self::Text { source, span } | Self::SecretText { source, span } => {
                (source.path.to_string(), span.start)
            }
            other => (other.to_string(), 0),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text { source, .. } | Self::SecretText { source, .. } => match self.line_column()
            {
                Some((line, column)) => write!(f, "{}:{line}:{column}", source.path),
                None => f.write_str(&source.path),
            },
            Self::File(path) => f.write_str(path),
            Self::Argument(argument) => write!(f, "argument `{argument}`"),
            Self::Member { wheel, member } => write!(f, "{wheel}: {member}"),
            Self::Url(address) => f.write_str(address),
        }
    }
}

/// A place with the reason for pointing at it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiagnosticLabel {
    /// Where.
    pub location: Location,
    /// Why this spot; may be empty.
    pub text: String,
    /// Whether it is the main spot.
    pub primary: bool,
}
