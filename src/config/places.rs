//! Where the parts of a checked matrix file stand, for diagnostics that are found later.

use std::collections::BTreeMap;

use crate::diagnostic::{Place, Source, Span};

/// Key paths, `axes.torch[1]`, with their byte ranges in the file.
#[derive(Debug, Clone)]
pub struct Places {
    source: Source,
    spans: BTreeMap<String, Span>,
}

impl Places {
    /// No places yet in this source.
    pub fn new(source: Source) -> Self {
        Self { source, spans: BTreeMap::new() }
    }

    /// Remembers where a key path stands.
    pub fn insert(&mut self, path: impl Into<String>, span: Span) {
        self.spans.insert(path.into(), span);
    }

    /// Puts a place for a key path and all below it.
    pub(super) fn replace(&mut self, path: &str, span: Span) {
        let is_below = |known: &str| known.strip_prefix(path).is_some_and(|rest| rest.starts_with(['.', '[']));
        self.spans.retain(|known, _| !is_below(known));
        self.insert(path, span);
    }

    /// The bytes of a key path that is known itself.
    pub fn span(&self, path: &str) -> Option<Span> {
        self.spans.get(path).cloned()
    }

    /// The place of a key path; of its nearest known parent otherwise; the file's beginning at last.
    pub fn of(&self, path: &str) -> Place {
        let mut path = path;
        loop {
            if let Some(span) = self.spans.get(path) {
                return self.source.place(span.clone());
            }
            match path.rfind(['.', '[']) {
                Some(cut) => path = &path[..cut],
                None => return self.source.place(0..0),
            }
        }
    }

    /// The source.
    pub fn source(&self) -> &Source {
        &self.source
    }
}
