//! The user's directories of compatibility tables and recipes.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::{compat_directory, into_warnings, recipe_directory, with_sink};
use crate::config::recipe::RecipeSet;
use crate::config::{MATRICES, ParsedFile};
use rock_compat::Compat;
use rock_diagnostic::{Diagnostic, Diagnostics, Sink};
use rock_sys as sys;

/// Name of the directory of tables in [`MATRICES`].
const COMPAT: &str = "compat";
/// Name of the directory of recipes in [`MATRICES`].
const RECIPES: &str = "recipes";
/// Extensions of tables and recipes.
pub(super) const EXTENSIONS: [&str; 2] = ["yaml", "yml"];

/// The user's directories of compatibility tables and recipes, which take precedence over the
/// built-in data.
///
/// At most one directory of tables and one of recipes is used. It is the named directory, if an
/// option, an environment variable or the project file names one. Otherwise it is the overlay:
/// `matrices/compat` or `matrices/recipes` in the working directory, if that has YAML files.
///
/// - The tables of a named directory replace all built-in tables.
/// - The tables of an overlay are merged with the built-in ones. A row replaces the built-in row
///   with the same key; all other built-in rows remain, and rows with new keys are added.
///   [`TableOverlay`](rock_compat::TableOverlay) describes the keys, and the tables without keys.
/// - Recipes of either directory are merged with the built-in ones. A recipe replaces the built-in
///   one with the same name, and all other built-in recipes remain.
///
/// Within a directory, two rows with the same key are an error. Of two recipes with the same name,
/// the one in the later file is used; files are sorted by name. A recipe file that is passed to
/// [`Workspace::load`](super::Workspace::load) takes precedence over the directories.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DataDirectories {
    compat: Option<DataDirectory>,
    recipes: Option<DataDirectory>,
}

/// A directory of tables or recipes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DataDirectory {
    /// The user named the directory.
    Named(PathBuf),
    /// The directory was found in the working directory.
    Overlay(PathBuf),
}

impl DataDirectory {
    /// Returns the path of the directory.
    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Named(path) | Self::Overlay(path) => path,
        }
    }

    /// Finds an overlay by its name in [`MATRICES`].
    fn find_overlay(root: &Path, name: &str) -> Option<Self> {
        let directory = root.join(MATRICES).join(name);
        // A directory that cannot be read is reported when it is loaded.
        let is_used = sys::is_directory(&directory)
            && sys::files_with_extension(&directory, &EXTENSIONS)
                .map_or(true, |files| !files.is_empty());
        is_used.then_some(Self::Overlay(directory))
    }

    fn named(&self) -> Option<&Path> {
        match self {
            Self::Named(path) => Some(path),
            Self::Overlay(_) => None,
        }
    }

    fn overlay(&self) -> Option<&Path> {
        match self {
            Self::Named(_) => None,
            Self::Overlay(path) => Some(path),
        }
    }
}

impl DataDirectories {
    /// Finds the overlays `matrices/compat` and `matrices/recipes` in a directory; an empty `root`
    /// is the working directory. [`Self::default`] has no directories, so that only the built-in
    /// data is used.
    pub fn discover(root: &Path) -> Self {
        Self {
            compat: DataDirectory::find_overlay(root, COMPAT),
            recipes: DataDirectory::find_overlay(root, RECIPES),
        }
    }

    /// Sets a named directory of tables. It is used instead of the overlay.
    #[must_use]
    pub fn with_compat(mut self, directory: PathBuf) -> Self {
        self.compat = Some(DataDirectory::Named(directory));
        self
    }

    /// Sets a named directory of recipes. It is used instead of the overlay.
    #[must_use]
    pub fn with_recipes(mut self, directory: PathBuf) -> Self {
        self.recipes = Some(DataDirectory::Named(directory));
        self
    }

    /// Returns the named directory of tables.
    pub fn named_compat(&self) -> Option<&Path> {
        self.compat.as_ref()?.named()
    }

    /// Returns the named directory of recipes.
    pub fn named_recipes(&self) -> Option<&Path> {
        self.recipes.as_ref()?.named()
    }

    /// Returns the overlay with tables, unless a directory is named.
    pub fn compat_overlay(&self) -> Option<&Path> {
        self.compat.as_ref()?.overlay()
    }

    /// Returns the overlay with recipes, unless a directory is named.
    pub fn recipe_overlay(&self) -> Option<&Path> {
        self.recipes.as_ref()?.overlay()
    }

    /// Returns a message for each overlay.
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

    /// Reads the tables, and combines them with the built-in ones. Returns `None` if there is no
    /// directory of tables; then the built-in tables apply ([`Compat::embedded`]).
    ///
    /// # Errors
    /// If the directory or a file cannot be read, or a table or row is invalid; all errors in the
    /// files are reported at once.
    pub fn load_compat(&self) -> Result<Option<Compat>, Diagnostics> {
        self.compat.as_ref().map(compat_directory::load).transpose()
    }

    /// Reads the recipes, and combines them with the built-in ones. Returns the warnings about the
    /// files too.
    ///
    /// # Errors
    /// If the directory or a file cannot be read, a recipe is invalid, or a named directory has no
    /// recipes; all errors in the files are reported at once.
    pub fn load_recipes(&self) -> Result<(Arc<RecipeSet>, Vec<Diagnostic>), Diagnostics> {
        let mut sink = Sink::new();
        match self.read_recipes(&[], &mut sink) {
            Ok(recipes) => Ok((recipes, into_warnings(sink)?)),
            Err(errors) => Err(with_sink(errors, sink)),
        }
    }

    /// Returns the path at which a recipe with this name is found: in the named directory, or else
    /// in the overlay `matrices/recipes` of the working directory.
    pub fn recipe_path(&self, name: &str) -> PathBuf {
        let file = format!("{name}.yaml");
        match &self.recipes {
            Some(directory) => directory.path().join(file),
            None => Path::new(MATRICES).join(RECIPES).join(file),
        }
    }

    /// Whether a file is in the directory of recipes, or in another one with its usual name.
    pub(super) fn is_recipe_path(&self, file: &Path) -> bool {
        let Some(parent) = file.parent() else {
            return false;
        };
        let is_used = |directory: &DataDirectory| is_same_path(directory.path(), parent);
        parent.file_name().is_some_and(|name| name == RECIPES)
            || self.recipes.as_ref().is_some_and(is_used)
    }

    /// Reads the recipes like [`Self::load_recipes`], and adds these recipe files, which take
    /// precedence. Errors in the files go to the sink.
    ///
    /// # Errors
    /// If the directory cannot be read, or if a named directory has no recipes.
    pub(super) fn read_recipes(
        &self,
        files: &[ParsedFile],
        sink: &mut Sink,
    ) -> Result<Arc<RecipeSet>, Diagnostics> {
        recipe_directory::read(self.recipes.as_ref(), files, sink)
    }
}

/// Whether two paths are equal, apart from `.` components.
pub(super) fn is_same_path(one: &Path, other: &Path) -> bool {
    fn parts(path: &Path) -> impl Iterator<Item = Component<'_>> {
        path.components().filter(|part| *part != Component::CurDir)
    }
    parts(one).eq(parts(other))
}
