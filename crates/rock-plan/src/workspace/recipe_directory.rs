//! Reads the recipes of a directory.

use std::path::Path;
use std::sync::Arc;

use super::data_directories::{DataDirectory, EXTENSIONS, is_same_path};
use super::read_document;
use crate::codes::build as codes;
use crate::config::ParsedFile;
use crate::config::recipe::{self, RecipeSet};
use rock_diagnostic::{Diagnostic, Diagnostics, ExitClass, Sink};
use rock_sys as sys;

/// Returns all available recipes. Of recipes with the same name, the one of `files` takes
/// precedence over that of the directory, and both over the built-in one. Errors in files go to the
/// sink.
///
/// # Errors
/// If the directory cannot be read, or if a named directory has no recipes.
pub(super) fn read(
    directory: Option<&DataDirectory>,
    files: &[ParsedFile],
    sink: &mut Sink,
) -> Result<Arc<RecipeSet>, Diagnostics> {
    let others = match directory {
        Some(directory) => parse_directory(directory, files, sink)?,
        None => Vec::new(),
    };
    let (mut documents, mut broken) = (Vec::new(), Vec::new());
    // Of recipes with the same name, a `RecipeSet` uses the last one.
    for file in others.iter().chain(files) {
        match recipe::from_parsed(file, sink) {
            Some(document) => documents.push(document),
            None => broken.extend(file.recipe_name()),
        }
    }
    Ok(Arc::new(
        RecipeSet::with_shipped(documents).with_broken(broken),
    ))
}

/// Parses the files of a directory, sorted by name, except those that are already parsed. Errors in
/// a file go to the sink.
fn parse_directory(
    directory: &DataDirectory,
    parsed: &[ParsedFile],
    sink: &mut Sink,
) -> Result<Vec<ParsedFile>, Diagnostics> {
    let files = sys::files_with_extension(directory.path(), &EXTENSIONS)
        .map_err(|error| Diagnostics::from(error).exits_with(ExitClass::Input))?;
    if files.is_empty() {
        let message = format!("there are no recipes in `{}`", directory.path().display());
        let error = Diagnostic::new(&codes::NO_RECIPES, message);
        return Err(error
            .help("give a directory with recipe files, such as matrices/recipes")
            .into());
    }
    let is_overlay = matches!(directory, DataDirectory::Overlay(_));
    let mut others = Vec::new();
    for path in files {
        if parsed
            .iter()
            .any(|file| is_same_path(Path::new(file.path()), &path))
        {
            continue;
        }
        match read_document(&path) {
            // A repository may contain copies of the built-in recipes, which need not be parsed.
            Ok(source) if is_overlay && recipe::is_embedded(&source.text) => {}
            Ok(source) => others.push(ParsedFile::parse_recipe(source, sink)),
            Err(error) => sink.push(error),
        }
    }
    Ok(others)
}
