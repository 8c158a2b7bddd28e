//! Checks options for the selected jobs against their recipes.

use std::collections::BTreeSet;

use super::ReadyJob;
use crate::codes::{build, matrix};
use crate::config;
use rock_diagnostic::nearest::{nearest, with_nearest};
use rock_diagnostic::{Diagnostic, Location, Sink};

/// Rejects container arguments that matrix files do not allow either, and facts, given with an
/// option such as `--fact`, that no recipe of the jobs has.
pub fn check_job_options(
    jobs: &[ReadyJob],
    docker_args: &[String],
    (option, facts): (&str, &[(String, String)]),
    sink: &mut Sink,
) {
    for (number, text) in docker_args.iter().enumerate() {
        if let Some((message, help)) = config::docker_argument_fault(number, text) {
            let place = Location::Argument(format!("--docker-arg {text}"));
            sink.push(
                Diagnostic::new(&matrix::BAD_DOCKER_ARGUMENT, message)
                    .at(place, "")
                    .help(help),
            );
        }
    }
    if jobs.is_empty() {
        return;
    }
    let known: BTreeSet<&str> = jobs
        .iter()
        .flat_map(|ready| ready.recipe.facts.keys())
        .map(String::as_str)
        .collect();
    let unknown = facts
        .iter()
        .filter(|(name, _)| !known.contains(name.as_str()));
    for (name, _) in unknown {
        let near = nearest(name, known.iter().copied());
        let help = match near {
            Some(near) => format!("use `{option} {near}=…`"),
            None if known.is_empty() => "remove it: the recipe has no facts".to_owned(),
            None => {
                let names: Vec<&str> = known.iter().copied().collect();
                format!("the facts are {}", names.join(", "))
            }
        };
        let message = with_nearest(format!("no recipe of these jobs has a fact `{name}`"), near);
        let place = Location::Argument(format!("{option} {name}"));
        sink.push(
            Diagnostic::new(&build::UNKNOWN_FACT, message)
                .at(place, "")
                .help(help),
        );
    }
}
