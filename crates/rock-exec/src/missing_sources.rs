//! Checks for source trees and archives of a build that do not exist.

use std::path::{Path, PathBuf};

use crate::codes::build as codes;
use rock_diagnostic::Diagnostic;
use rock_plan::config::recipe::RecipeDocument;
use rock_recipe::container::CALLER_MOUNT;
use rock_recipe::{Build, Step};
use rock_sys as sys;

/// Returns an error for each directory or archive that a step would copy and that does not exist.
/// Relative paths start at `caller`, the directory of the command line.
pub fn missing_sources(recipe: &RecipeDocument, build: &Build, caller: &Path) -> Vec<Diagnostic> {
    let mut faults = Vec::new();
    for (name, path) in source_paths(build, caller) {
        if sys::exists(&path) {
            continue;
        }
        let shown = path.strip_prefix(caller).unwrap_or(&path);
        let source = recipe.sources.get(name);
        let texts = source
            .iter()
            .flat_map(|source| [&source.path, &source.artifact])
            .flatten();
        let mut variables = texts
            .filter_map(|text| text.split_once("vars."))
            .map(|(_, rest)| {
                let end = rest
                    .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                    .unwrap_or(rest.len());
                rest[..end].replace('_', "-")
            });
        let help = match variables.next_back() {
            Some(variable) => format!("create it, or correct `{variable}` in `vars`"),
            None => "create it".to_owned(),
        };
        let message = format!(
            "the source `{name}` should be taken from `{}`, which does not exist",
            shown.display()
        );
        faults.push(Diagnostic::new(&codes::MISSING_SOURCE, message).help(help));
    }
    faults
}

/// Returns the names of the sources that steps copy, with their directories and archives. Relative
/// paths start at `caller`.
pub(crate) fn source_paths<'b>(
    build: &'b Build,
    caller: &'b Path,
) -> impl Iterator<Item = (&'b str, PathBuf)> {
    let sources = build.steps.iter().flat_map(Step::sources);
    sources.map(move |(name, path)| {
        let path = path
            .strip_prefix(CALLER_MOUNT)
            .map_or(path, |below| below.trim_start_matches('/'));
        (name, caller.join(path))
    })
}
