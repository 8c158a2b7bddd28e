//! Whether a recipe can be carried out for every job of a plan, with nothing known of the machine.

use std::collections::BTreeMap;

use super::{Site, build};
use crate::compat::Compat;
use crate::config::Platform;
use crate::config::recipe::RecipeDocument;
use crate::diagnostic::{Diagnostic, Sink};
use crate::plan::Job;

/// Jobs that are tried; beyond that only the first ones, so that a plan of a million does not take an hour.
const MOST_JOBS: usize = 5_000;

/// Evaluates every condition, and every part whose condition holds, for each job. Facts of the machine have stand-ins.
/// Each fault is told once, with how many jobs have it and one of them.
pub fn check(jobs: impl IntoIterator<Item = Job>, document: &RecipeDocument, compat: &Compat, sink: &mut Sink) {
    let mut found: Vec<(Diagnostic, usize, String)> = Vec::new();
    for job in jobs.into_iter().filter(|job| job.settings.platform == Platform::Linux).take(MOST_JOBS) {
        let told = build(&job, document, compat, &Site::Container, &BTreeMap::new());
        for diagnostic in told.err().into_iter().flatten() {
            match found.iter_mut().find(|(known, _, _)| *known == diagnostic) {
                Some((_, count, _)) => *count += 1,
                None => found.push((diagnostic, 1, job.id.clone())),
            }
        }
    }
    for (diagnostic, count, id) in found {
        let jobs = if count == 1 { format!("for job `{id}`") } else { format!("for {count} jobs, such as `{id}`") };
        sink.push(diagnostic.note(jobs));
    }
}
