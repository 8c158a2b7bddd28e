//! Reads the recipes of a directory.

use std::sync::Arc;

use super::data_directories::{DataDirectory, EXTENSIONS};
use super::read_document;
use crate::codes::build as codes;
use crate::config::recipe::{self, RecipeSet};
use rock_diagnostic::{Diagnostic, Diagnostics, ExitClass, Sink, SourceText};
use rock_sys as sys;

/// Returns all available recipes. Of recipes with the same name, the one of `files` takes
/// precedence over that of the directory, and both over the built-in one. Errors in files go to the
/// sink.
///
/// # Errors
/// If the directory cannot be read, or if a named directory has no recipes.
pub(super) fn read(
    directory: Option<&DataDirectory>,
    files: &[&SourceText],
    sink: &mut Sink,
) -> Result<Arc<RecipeSet>, Diagnostics> {
    let sources = match directory {
        Some(directory) => read_sources(directory, sink)?,
        None => Vec::new(),
    };
    let (mut documents, mut broken) = (Vec::new(), Vec::new());
    // Of recipes with the same name, a `RecipeSet` uses the last one.
    for source in sources.iter().chain(files.iter().copied()) {
        match recipe::from_source(source, sink) {
            Some(document) => documents.push(document),
            None => broken.extend(recipe::name_in(source)),
        }
    }
    Ok(Arc::new(
        RecipeSet::with_shipped(documents).with_broken(broken),
    ))
}

/// Reads the files of a directory, sorted by name. A file that cannot be read is an error in the
/// sink.
fn read_sources(
    directory: &DataDirectory,
    sink: &mut Sink,
) -> Result<Vec<SourceText>, Diagnostics> {
    let files = sys::files_with_extension(directory.path(), &EXTENSIONS)
        .map_err(|error| Diagnostics::from(error).exits_with(ExitClass::Input))?;
    if files.is_empty() {
        let message = format!("there are no recipes in `{}`", directory.path().display());
        let error = Diagnostic::new(&codes::NO_RECIPES, message);
        return Err(error
            .help("give a directory with recipe files, such as matrices/recipes")
            .into());
    }
    let mut sources = Vec::new();
    for path in files {
        match read_document(&path) {
            Ok(source) => sources.push(source),
            Err(error) => sink.push(error),
        }
    }
    // A repository may contain copies of the built-in recipes, which need not be parsed.
    if matches!(directory, DataDirectory::Overlay(_)) {
        sources.retain(|source| !recipe::is_embedded(&source.text));
    }
    Ok(sources)
}
