//! The locations that diagnostics point at.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A byte range of a source text.
pub type Span = Range<usize>;

/// A text that diagnostics can point into, with the name that the user knows it by.
///
/// Clones share the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceText {
    /// The displayed name, usually the path as given on the command line.
    pub path: Arc<str>,
    /// The whole text.
    pub text: Arc<str>,
    /// Command line arguments that override values of the text.
    arguments: Arc<[String]>,
}

impl SourceText {
    /// Creates a source text with a name.
    pub fn new(path: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> Self {
        Self {
            path: path.into(),
            text: text.into(),
            arguments: Arc::default(),
        }
    }

    /// Returns this text with command line arguments that override some of its values.
    ///
    /// Give a value of the `n`-th argument the span [`Self::argument_span`]`(n)`, so that
    /// diagnostics point at the argument instead of the text.
    #[must_use]
    pub fn with_arguments(&self, arguments: Vec<String>) -> Self {
        Self {
            arguments: arguments.into(),
            ..self.clone()
        }
    }

    /// Returns the span that stands for an argument of [`Self::with_arguments`], by its index: an
    /// empty range beyond the end of the text.
    pub fn argument_span(&self, index: usize) -> Span {
        let start = self.text.len() + 1 + index;
        start..start
    }

    /// Returns the location of a byte range, or of the argument that the range stands for.
    pub fn location(&self, span: Span) -> Location {
        let index = span.start.checked_sub(self.text.len() + 1);
        match index.and_then(|index| self.arguments.get(index)) {
            Some(argument) => Location::Argument(argument.clone()),
            None => Location::Text {
                source: self.clone(),
                span,
            },
        }
    }
}

/// The location of a problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// A byte range of a text, which renderers quote.
    Text {
        /// The text.
        source: SourceText,
        /// The byte range.
        span: Span,
    },
    /// A byte range of a text that may be a secret, so that renderers do not quote it.
    SecretText {
        /// The text.
        source: SourceText,
        /// The byte range.
        span: Span,
    },
    /// A whole file, such as one that cannot be read or is not UTF-8.
    File(Arc<str>),
    /// A command line argument.
    Argument(String),
    /// A member of a wheel.
    Member {
        /// The filename of the wheel.
        wheel: String,
        /// The name of the member in the archive.
        member: String,
    },
    /// The URL of a remote resource.
    Url(String),
}

impl Location {
    /// Returns the line and column of the start of a span, both counted from 1, the column in
    /// characters. `None` for locations without a text.
    pub fn line_column(&self) -> Option<(usize, usize)> {
        let (Self::Text { source, span } | Self::SecretText { source, span }) = self else {
            return None;
        };
        let before = source.text.get(..span.start.min(source.text.len()))?;
        let line = before.matches('\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |i| i + 1);
        Some((line, before[start..].chars().count() + 1))
    }

    /// Returns the key that diagnostics are sorted by: the displayed name, then the byte offset.
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
            Self::Text { source, .. } | Self::SecretText { source, .. } => {
                match self.line_column() {
                    Some((line, column)) => write!(f, "{}:{line}:{column}", source.path),
                    None => f.write_str(&source.path),
                }
            }
            Self::File(path) => f.write_str(path),
            Self::Argument(argument) => write!(f, "argument `{argument}`"),
            Self::Member { wheel, member } => write!(f, "{wheel}: {member}"),
            Self::Url(url) => f.write_str(url),
        }
    }
}
