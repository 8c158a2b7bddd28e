//! Shell patterns that select libraries by name or path.

use std::sync::OnceLock;

use globset::{Glob, GlobBuilder, GlobMatcher};

/// A list of shell patterns for names and paths of libraries.
#[derive(Debug, Clone, Default)]
pub struct LibraryPatterns {
    patterns: Vec<LazyPattern>,
}

/// A shell pattern that is compiled once a text starts with its literal prefix: presets have many
/// patterns, and most match nothing.
#[derive(Debug, Clone)]
struct LazyPattern {
    prefix: String,
    glob: Glob,
    matcher: OnceLock<GlobMatcher>,
}

impl LazyPattern {
    fn new(pattern: &str) -> Result<Self, PatternError> {
        let glob = GlobBuilder::new(pattern)
            .literal_separator(false)
            .backslash_escape(false)
            .build()
            .map_err(PatternError)?;
        let prefix = pattern
            .split(['*', '?', '[', ']', '{', '}', '\\', '!'])
            .next()
            .unwrap_or_default()
            .to_owned();
        Ok(Self {
            prefix,
            glob,
            matcher: OnceLock::new(),
        })
    }

    fn is_match(&self, text: &str) -> bool {
        text.starts_with(&self.prefix)
            && self
                .matcher
                .get_or_init(|| self.glob.compile_matcher())
                .is_match(text)
    }
}

impl LibraryPatterns {
    /// Parses patterns with `*`, `?` and `[…]`, which match needed names and whole paths of files
    /// and are case-sensitive. `*` also matches slashes.
    ///
    /// # Errors
    /// Returns the first pattern that is not valid.
    pub fn new<'p>(patterns: impl IntoIterator<Item = &'p str>) -> Result<Self, PatternError> {
        Ok(Self {
            patterns: patterns
                .into_iter()
                .map(LazyPattern::new)
                .collect::<Result<_, _>>()?,
        })
    }

    /// Returns the patterns as they were given.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.patterns.iter().map(|pattern| pattern.glob.glob())
    }

    /// Returns the indexes of the patterns that match a name or path.
    pub fn matching<'e>(&'e self, text: &'e str) -> impl Iterator<Item = usize> + 'e {
        self.patterns
            .iter()
            .enumerate()
            .filter(move |(_, pattern)| pattern.is_match(text))
            .map(|(index, _)| index)
    }

    /// Returns whether a pattern matches a name or path.
    pub fn has(&self, text: &str) -> bool {
        self.matching(text).next().is_some()
    }
}

/// A shell pattern that is not valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(transparent)]
pub struct PatternError(globset::Error);
