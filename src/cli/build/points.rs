//! The points at which an unfinished build can be resumed.

use super::BuildRequest;
use super::prepare::Prepared;
use crate::cli::Shell;
use crate::exec::{ResumePoint, StageState};
use crate::sys;

/// Lists, before a new build starts, the points of the recipe at which an earlier one can be
/// resumed, and what it left for each.
pub(super) fn tell(job: &Prepared, args: &BuildRequest<'_>, shell: &Shell) {
    if job.wish(args) != ResumePoint::Fresh || args.test.is_some() {
        return;
    }
    let Ok(Some(last)) = job.folder.last_record() else {
        return;
    };
    let steps = &job.build.steps;
    let is_done = |(number, stage): &(usize, &crate::exec::StageRecord)| {
        stage.state == StageState::Done
            && steps
                .get(*number)
                .is_some_and(|step| step.stage == stage.stage)
    };
    let done = last.stages.iter().enumerate().take_while(is_done).count();
    let found: Vec<String> = job
        .build
        .points
        .iter()
        .filter(|(_, at)| (1..=done).contains(at))
        .map(|(name, at)| format!("  --resume={name:<10} {}", left(job, *at)))
        .collect();
    if !found.is_empty() {
        shell.say("an earlier build of this job can be resumed; add one of these options:");
        for line in &found {
            shell.say(line);
        }
    }
}

/// Describes what the stages before a step left: sources and outputs.
fn left(job: &Prepared, at: usize) -> String {
    let folder = job.folder.path();
    let sources = job.folder.at("src");
    let sources = sources
        .check()
        .and_then(|()| sys::entry_names(&sources.path()))
        .unwrap_or_default();
    let mut there: Vec<String> = sources.iter().map(|name| format!("src/{name}")).collect();
    for output in job.build.steps[..at].iter().flat_map(|step| &step.outputs) {
        let files = sys::glob(folder, &output.glob).unwrap_or_default();
        there.extend(files.iter().map(|path| {
            path.strip_prefix(folder)
                .unwrap_or(path)
                .display()
                .to_string()
        }));
    }
    let stage = &job.build.steps[at - 1].stage;
    if there.is_empty() {
        format!("`{stage}` is done")
    } else {
        format!("`{stage}` is done: {}", there.join(", "))
    }
}
