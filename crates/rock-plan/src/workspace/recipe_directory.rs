//! Reads the recipes of a directory.

use std::sync::Arc;

use super::data_directories::EXTENSIONS;
use super::{DataDirectories, read_document};
use crate::codes::build as codes;
use crate::config::recipe::{self, RecipeSet};
use rock_diagnostic::{Diagnostic, Diagnostics, ExitClass, Sink, SourceText};
use rock_sys as sys;

/// Returns all available recipes: those of the user's directory, then `more`, and the built-in ones
/// that these do not replace. Errors in files go to the sink.
///
/// # Errors
/// If the directory cannot be read, or if a named directory has no recipes.
pub fn load_recipes<'s>(
    directories: &DataDirectories,
    more: impl IntoIterator<Item = &'s SourceText>,
    sink: &mut Sink,
) -> Result<Arc<RecipeSet>, Diagnostics> {
    let mut sources = Vec::new();
    if let Some(directory) = directories
        .recipes
        .as_deref()
        .or(directories.recipe_overlay())
    {
        let files = sys::files_with_extension(directory, &EXTENSIONS)
            .map_err(|error| Diagnostics::from(error).exits_with(ExitClass::Input))?;
        if files.is_empty() {
            let message = format!("there are no recipes in `{}`", directory.display());
            let error = Diagnostic::new(&codes::NO_RECIPES, message);
            return Err(error
                .help("give a folder with recipe files, such as matrices/recipes")
                .into());
        }
        for path in files {
            match read_document(&path) {
                Ok(source) => sources.push(source),
                Err(error) => sink.push(error),
            }
        }
        // A copy of a built-in recipe need not be parsed.
        if directories.recipes.is_none() {
            sources.retain(|source| !recipe::is_embedded(&source.text));
        }
    }
    let (mut documents, mut broken) = (Vec::new(), Vec::new());
    let mut read = |source: &SourceText| match recipe::from_source(source, sink) {
        Some(document) => documents.push(document),
        None => broken.extend(recipe::name_in(source)),
    };
    sources.iter().for_each(&mut read);
    more.into_iter().for_each(read);
    Ok(Arc::new(
        RecipeSet::with_shipped(documents).with_broken(broken),
    ))
}
