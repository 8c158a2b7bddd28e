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
