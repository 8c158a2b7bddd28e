//! Recipe documents from YAML trees and from the embedded form.

use std::sync::Arc;

use super::RecipeDocument;
use crate::diagnostic::{Diagnostic, Sink, Source, registry::build as codes};
use crate::yaml;

/// The shipped recipes by name, as the JSON text that the build script made of `matrices/recipes/*.yaml`.
const EMBEDDED: &str = include_str!(concat!(env!("OUT_DIR"), "/recipes.json"));

/// Reads a recipe file. Every structural fault goes to the sink.
pub fn from_source(source: &Source, sink: &mut Sink) -> Option<RecipeDocument> {
    let errors = sink.error_count();
    let node = yaml::parse(source, sink)?;
    if sink.error_count() > errors {
        return None;
    }
    match yaml::de::from_node::<RecipeDocument>(&node) {
        Ok(document) => checked(document, source, sink),
        Err(error) => {
            sink.push(
                Diagnostic::new(&codes::BAD_RECIPE, error.message.clone())
                    .at(source.place(error.span.clone()), "")
                    .help("docs/recipes.md lists what a recipe may hold"),
            );
            None
        }
    }
}

/// The shipped recipe with this name.
pub fn embedded(name: &str) -> Option<RecipeDocument> {
    let all: indexmap::IndexMap<&str, &serde_json::value::RawValue> = serde_json::from_str(EMBEDDED).ok()?;
    serde_json::from_str(all.get(name)?.get()).ok()
}

/// Names of the shipped recipes, sorted.
pub fn embedded_names() -> Vec<Arc<str>> {
    let all: indexmap::IndexMap<&str, &serde_json::value::RawValue> =
        serde_json::from_str(EMBEDDED).unwrap_or_default();
    let mut names: Vec<Arc<str>> = all.keys().map(|name| Arc::from(*name)).collect();
    names.sort();
    names
}

/// Faults that the types alone do not rule out.
fn checked(document: RecipeDocument, source: &Source, sink: &mut Sink) -> Option<RecipeDocument> {
    let errors = sink.error_count();
    let mut fault = |message: String, help: &str| {
        sink.push(Diagnostic::new(&codes::BAD_RECIPE, message).at(source.place(0..0), "").help(help));
    };
    if document.recipe != 1 {
        fault(format!("this program reads recipes of version 1, not {}", document.recipe), "write `recipe: 1`");
    }
    if document.steps.is_empty() {
        fault("the recipe has no steps".to_owned(), "add at least one step with `stage` and `argv`");
    }
    let mut stages = std::collections::BTreeSet::new();
    for step in &document.steps {
        if !stages.insert(step.stage.as_str()) {
            fault(format!("two steps are called `{}`", step.stage), "give each step a stage of its own");
        }
        if step.argv.is_empty() {
            fault(format!("step `{}` has no argv", step.stage), "name the program and its arguments as a list");
        }
    }
    for (name, fact) in &document.facts {
        let kinds = [fact.expr.is_some(), fact.command.is_some(), fact.file.is_some(), fact.env.is_some()];
        if kinds.iter().filter(|kind| **kind).count() != 1 {
            fault(format!("fact `{name}` needs exactly one of `expr`, `command`, `file`, `env`"), "keep one of them");
        }
    }
    for (name, from) in &document.sources {
        let kinds = [from.sdist.is_some(), from.git.is_some(), from.path.is_some()];
        if kinds.iter().filter(|kind| **kind).count() != 1 {
            fault(format!("source `{name}` needs exactly one of `sdist`, `git`, `path`"), "keep one of them");
        }
    }
    for (number, edit) in document.edits.iter().enumerate() {
        if edit.file.is_some() == !edit.remove.is_empty() || (edit.file.is_some() && edit.find.is_empty()) {
            fault(format!("edit {} needs either `file` with `find`, or `remove`", number + 1), "keep one of them");
        }
    }
    (sink.error_count() == errors).then_some(document)
}
