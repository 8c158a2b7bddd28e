//! Tests of the builds that recipes create for jobs.

#[cfg(test)]
mod container;
#[cfg(test)]
mod facts;
#[cfg(test)]
mod package;
#[cfg(test)]
mod prepare;
#[cfg(test)]
mod steps;

use std::collections::BTreeMap;

use super::fixture::flash_attn;
use super::{Build, BuildSite, build};
use rock_compat::Compat;
use rock_diagnostic::{Diagnostic, Sink, SourceText};
use rock_plan::config::recipe::{RecipeDocument, from_source};

fn stages(build: &Build) -> Vec<&str> {
    build.steps.iter().map(|step| step.stage.as_str()).collect()
}

fn messages(faults: &[Diagnostic]) -> Vec<String> {
    faults
        .iter()
        .map(|fault| format!("{}: {}", fault.code.id, fault.message))
        .collect()
}

/// Parses a recipe from its text after the format and the name. Without `collect`, it produces no
/// file.
fn document(rest: &str) -> RecipeDocument {
    let mut sink = Sink::new();
    let leaves = if rest.contains("collect:") {
        ""
    } else {
        "leaves: tree\n"
    };
    let text = format!("recipe: 1\nname: flash-attn\n{rest}{leaves}");
    let found = from_source(&SourceText::new("recipes/flash-attn.yaml", text), &mut sink);
    found.unwrap_or_else(|| panic!("{:?}", sink.finish()))
}

/// Returns the recipe's build of a job in a container, without facts of the machine.
fn built(document: &RecipeDocument) -> Result<Build, Vec<Diagnostic>> {
    let job = flash_attn("2.8.3", "6.2", "2.5.1", "ck", "");
    build(
        &job,
        document,
        &Compat::embedded(),
        &BuildSite::Container,
        &BTreeMap::new(),
    )
}
