//! Checks of options that apply to the selected jobs.

use std::collections::BTreeSet;

use super::ReadyJob;
use crate::codes::{build, matrix};
use crate::config;
use rock_diagnostic::nearest::{nearest, with_nearest};
use rock_diagnostic::{Diagnostic, Diagnostics, Location};

/// Checks the arguments of `--docker-arg` by the rules for those in a matrix file.
///
/// # Errors
/// If matrix files do not allow an argument; one error for each.
pub fn check_docker_arguments(arguments: &[String]) -> Result<(), Diagnostics> {
    let mut errors = Vec::new();
    for (number, text) in arguments.iter().enumerate() {
        if let Some((message, help)) = config::docker_argument_fault(number, text) {
            let place = Location::Argument(format!("--docker-arg {text}"));
            errors.push(
                Diagnostic::new(&matrix::BAD_DOCKER_ARGUMENT, message)
                    .at(place, "")
                    .help(help),
            );
        }
    }
    Diagnostics::check(errors)
}

/// Checks the names of facts that are set for some jobs, as pairs of name and value.
///
/// # Errors
/// If none of the recipes of the jobs has a fact with this name; one error for each name.
pub fn check_fact_names(jobs: &[ReadyJob], facts: &[(String, String)]) -> Result<(), Diagnostics> {
    if jobs.is_empty() {
        return Ok(());
    }
    let known: BTreeSet<&str> = jobs
        .iter()
        .flat_map(|ready| ready.recipe.facts.keys())
        .map(String::as_str)
        .collect();
    let unknown = facts
        .iter()
        .filter(|(name, _)| !known.contains(name.as_str()));
    let mut errors = Vec::new();
    for (name, value) in unknown {
        let near = nearest(name, known.iter().copied());
        let help = match near {
            Some(near) => format!("use `{near}={value}`"),
            None if known.is_empty() => "remove it: the recipe has no facts".to_owned(),
            None => {
                let names: Vec<&str> = known.iter().copied().collect();
                format!("the facts are {}", names.join(", "))
            }
        };
        let message = with_nearest(format!("no recipe of these jobs has a fact `{name}`"), near);
        let place = Location::Argument(format!("{name}={value}"));
        errors.push(
            Diagnostic::new(&build::UNKNOWN_FACT, message)
                .at(place, "")
                .help(help),
        );
    }
    Diagnostics::check(errors)
}
