//! Recipes by name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use super::read::embedded_text;
use super::{RecipeDocument, RecipeOverview, embedded, embedded_names, resolve};
use crate::codes::plan::UNKNOWN_RECIPE;
use rock_diagnostic::Diagnostic;
use rock_diagnostic::nearest::{nearest, with_nearest};

/// The recipes that can be named. Each is put together with what it uses when it is first asked
/// for.
#[derive(Debug, Default)]
pub struct RecipeSet {
    given: Vec<RecipeDocument>,
    has_shipped: bool,
    /// Names of recipes whose files have faults.
    broken: BTreeSet<String>,
    whole: Mutex<BTreeMap<String, Result<Arc<RecipeDocument>, Diagnostic>>>,
}

impl RecipeSet {
    /// These, and the shipped ones that they do not replace. Of two with one name the later stands.
    pub fn with_shipped(given: impl IntoIterator<Item = RecipeDocument>) -> Self {
        let given = given.into_iter().collect();
        Self {
            given,
            has_shipped: true,
            broken: BTreeSet::new(),
            whole: Mutex::default(),
        }
    }

    /// Adds names of recipes whose files have faults, so that a matrix file may name them without
    /// another one.
    #[must_use]
    pub fn with_broken(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.broken.extend(names);
        self
    }

    /// Whether the file of this recipe has faults, which are reported already.
    pub fn is_broken(&self, name: &str) -> bool {
        self.broken.contains(name)
    }

    /// Returns a diagnostic for an unknown name, with the nearest known one.
    pub fn unknown(&self, name: &str) -> Diagnostic {
        let message = with_nearest(
            format!("there is no recipe `{name}`"),
            nearest(name, self.names()),
        );
        Diagnostic::new(&UNKNOWN_RECIPE, message)
            .help("`rock-matrix recipe list` shows all of them; `--recipes DIR` adds your own")
    }

    /// The names, sorted.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self
            .given
            .iter()
            .map(|document| document.name.as_str())
            .collect();
        if self.has_shipped {
            embedded_names().for_each(|name| names.push(name));
        }
        names.sort_unstable();
        names.dedup();
        names
    }

    /// A recipe as it is written.
    pub(super) fn document(&self, name: &str) -> Option<&RecipeDocument> {
        let given = self
            .given
            .iter()
            .rev()
            .find(|document| document.name == name);
        given.or_else(|| self.has_shipped.then(|| embedded(name)).flatten())
    }

    /// A recipe together with those that it uses; `None` where there is none of this name.
    ///
    /// # Errors
    /// Returns an error if a used recipe does not exist, if a recipe uses itself, or if two have the
    /// same stage.
    pub fn whole(&self, name: &str) -> Option<Result<Arc<RecipeDocument>, Diagnostic>> {
        let document = self.document(name)?;
        let mut whole = self.whole.lock().unwrap_or_else(PoisonError::into_inner);
        if !whole.contains_key(name) {
            whole.insert(name.to_owned(), resolve(document, self).map(Arc::new));
        }
        whole.get(name).cloned()
    }

    /// The same, `None` also where what it uses does not fit together.
    pub fn known(&self, name: &str) -> Option<Arc<RecipeDocument>> {
        self.whole(name)?.ok()
    }

    /// Returns the overview of a recipe; `None` for an unknown name.
    ///
    /// # Errors
    /// When the recipe or one that it uses has faults.
    pub fn overview(&self, name: &str) -> Option<Result<RecipeOverview, Diagnostic>> {
        let whole = match self.whole(name)? {
            Ok(whole) => whole,
            Err(fault) => return Some(Err(fault)),
        };
        let used = whole.used.iter().map(String::as_str);
        let texts = std::iter::once(name)
            .chain(used)
            .filter_map(|name| self.text(name));
        Some(Ok(RecipeOverview::new(&whole, &texts.collect::<Vec<_>>())))
    }

    /// The file of a recipe.
    fn text(&self, name: &str) -> Option<&str> {
        let document = self.document(name)?;
        document
            .source
            .as_ref()
            .map(|source| &*source.text)
            .or_else(|| embedded_text(name))
    }

    /// What is wrong with the given ones, and with others that were asked for.
    pub fn faults(&self) -> Vec<Diagnostic> {
        for document in &self.given {
            self.known(&document.name);
        }
        let whole = self.whole.lock().unwrap_or_else(PoisonError::into_inner);
        whole
            .values()
            .filter_map(|whole| whole.as_ref().err().cloned())
            .collect()
    }
}
