//! Recipes by name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use super::read::embedded_text;
use super::{RecipeDocument, RecipeOverview, embedded, embedded_names, resolve};
use crate::codes::plan::UNKNOWN_RECIPE;
use rock_diagnostic::nearest::{nearest, with_nearest};
use rock_diagnostic::{Diagnostic, Diagnostics, ExitClass, Sink};

/// The recipes that can be named. Each is merged with the recipes that it uses when it is first
/// requested.
#[derive(Debug, Default)]
pub struct RecipeSet {
    given: Vec<RecipeDocument>,
    has_shipped: bool,
    /// Names of recipes whose files have errors.
    broken: BTreeSet<String>,
    whole: Mutex<BTreeMap<String, Result<Arc<RecipeDocument>, Diagnostic>>>,
}

impl RecipeSet {
    /// Creates a set of these recipes and the shipped ones that they do not replace. Of two with
    /// the same name, the later one is used.
    pub fn with_shipped(given: impl IntoIterator<Item = RecipeDocument>) -> Self {
        let given = given.into_iter().collect();
        Self {
            given,
            has_shipped: true,
            broken: BTreeSet::new(),
            whole: Mutex::default(),
        }
    }

    /// Adds names of recipes whose files have errors, so that a matrix file can name them without
    /// another error.
    #[must_use]
    pub fn with_broken(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.broken.extend(names);
        self
    }

    /// Whether the file of this recipe has errors, which are already reported.
    pub fn is_broken(&self, name: &str) -> bool {
        self.broken.contains(name)
    }

    /// Returns a diagnostic for an unknown name, with the nearest known one.
    pub fn unknown(&self, name: &str) -> Diagnostic {
        let message = with_nearest(
            format!("there is no recipe `{name}`"),
            nearest(name, self.names()),
        );
        Diagnostic::new(&UNKNOWN_RECIPE, message).help(
            "`rock-matrix recipe list` shows all recipes; \
             `rock-matrix recipe new NAME` creates one",
        )
    }

    /// Returns the names, sorted.
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

    /// Returns a recipe as written.
    pub(super) fn document(&self, name: &str) -> Option<&RecipeDocument> {
        let given = self
            .given
            .iter()
            .rev()
            .find(|document| document.name == name);
        given.or_else(|| self.has_shipped.then(|| embedded(name)).flatten())
    }

    /// Returns a recipe merged with those that it uses; `None` for an unknown name.
    ///
    /// # Errors
    /// If a used recipe does not exist, a recipe uses itself, two recipes have the same stage, or a
    /// fact names an unknown stage.
    pub fn whole(&self, name: &str) -> Option<Result<Arc<RecipeDocument>, Diagnostic>> {
        let document = self.document(name)?;
        let mut whole = self.whole.lock().unwrap_or_else(PoisonError::into_inner);
        if !whole.contains_key(name) {
            whole.insert(name.to_owned(), resolve(document, self).map(Arc::new));
        }
        whole.get(name).cloned()
    }

    /// Like [`Self::whole`], but returns `None` also if the recipes cannot be merged.
    pub fn known(&self, name: &str) -> Option<Arc<RecipeDocument>> {
        self.whole(name)?.ok()
    }

    /// Returns the overview of a recipe; `None` for an unknown name.
    ///
    /// # Errors
    /// If the recipe cannot be merged with those that it uses.
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

    /// Returns the overviews of the recipes with these names.
    ///
    /// # Errors
    /// If a name is unknown, which is an error of the command line, or if a recipe cannot be merged
    /// with those that it uses; all of these errors.
    pub fn overviews<'n>(
        &self,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Result<Vec<RecipeOverview>, Diagnostics> {
        let (mut overviews, mut errors) = (Vec::new(), Sink::new());
        let mut exit_class = ExitClass::Input;
        for name in names {
            match self.overview(name) {
                Some(Ok(overview)) => overviews.push(overview),
                Some(Err(error)) => errors.push(error),
                None => {
                    errors.push(self.unknown(name));
                    exit_class = ExitClass::Usage;
                }
            }
        }
        if errors.has_errors() {
            Err(Diagnostics::from(errors.finish()).exits_with(exit_class))
        } else {
            Ok(overviews)
        }
    }

    /// Returns the text of a recipe's file.
    fn text(&self, name: &str) -> Option<&str> {
        let document = self.document(name)?;
        document
            .source
            .as_ref()
            .map(|source| &*source.text)
            .or_else(|| embedded_text(name))
    }

    /// Returns the errors of the given recipes, and of others that were requested.
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
