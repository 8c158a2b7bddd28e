//! The directories of the user's compatibility tables and recipes.

use std::path::{Path, PathBuf};

use crate::config::MATRICES;
use rock_sys as sys;

/// Name of the directory of tables in [`MATRICES`].
const COMPAT: &str = "compat";
/// Name of the directory of recipes in [`MATRICES`].
const RECIPES: &str = "recipes";
/// Extensions of tables and recipes.
pub(super) const EXTENSIONS: [&str; 2] = ["yaml", "yml"];

/// The directories of the user's compatibility tables and recipes.
///
/// A directory that was named, with an option for example, replaces the one in the working directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DataDirectories {
    /// The named directory of tables, which replace all built-in ones.
    pub compat: Option<PathBuf>,
    /// The named directory of recipes, which precede the built-in ones.
    pub recipes: Option<PathBuf>,
    compat_overlay: Option<PathBuf>,
    recipe_overlay: Option<PathBuf>,
}

impl DataDirectories {
    /// Creates the directories that were named. No other directory is searched for.
    pub fn named(compat: Option<PathBuf>, recipes: Option<PathBuf>) -> Self {
        Self {
            compat,
            recipes,
            ..Self::default()
        }
    }

    /// Finds `matrices/compat` and `matrices/recipes` in a directory, each unless a directory was
    /// named instead. An empty `directory` is the working directory. A directory without YAML files is
    /// not used.
    #[must_use]
    pub fn find_overlays(mut self, directory: &Path) -> Self {
        let find = |name: &str| {
            let directory = directory.join(MATRICES).join(name);
            // A directory that cannot be read is reported when it is loaded.
            let is_used = sys::is_directory(&directory)
                && sys::files_with_extension(&directory, &EXTENSIONS)
                    .map_or(true, |files| !files.is_empty());
            is_used.then_some(directory)
        };
        self.compat_overlay = self.compat.is_none().then(|| find(COMPAT)).flatten();
        self.recipe_overlay = self.recipes.is_none().then(|| find(RECIPES)).flatten();
        self
    }

    /// Returns the directory whose tables replace or complement rows of the built-in ones.
    pub fn compat_overlay(&self) -> Option<&Path> {
        self.compat_overlay.as_deref()
    }

    /// Returns the directory below the working directory whose recipes precede the built-in ones.
    pub fn recipe_overlay(&self) -> Option<&Path> {
        self.recipe_overlay.as_deref()
    }

    /// Returns a line for each directory that was found.
    pub fn notes(&self) -> Vec<String> {
        let note = |kind: &str, directory: &Path| {
            format!(
                "using {kind} of {} before the built-in ones",
                directory.display()
            )
        };
        let tables = self
            .compat_overlay()
            .map(|directory| note("the tables", directory));
        let recipes = self
            .recipe_overlay()
            .map(|directory| note("the recipes", directory));
        tables.into_iter().chain(recipes).collect()
    }
}
