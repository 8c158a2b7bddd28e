//! The points of a recipe at which an unfinished build can be resumed.

use super::job_directory::{JobDirectory, SOURCES};
use super::record::{BuildRecord, StageState};
use rock_recipe::Build;
use rock_sys as sys;

/// A point of a recipe at which an unfinished build can be resumed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResumePoint {
    /// Its name.
    pub name: String,
    /// The last completed stage before it.
    pub after: String,
    /// The files that the stages before it left, relative to the job directory.
    pub files: Vec<String>,
}

/// Returns the resume points that an earlier build has reached, in recipe order.
pub(super) fn reached_points(
    build: &Build,
    directory: &JobDirectory,
    last: &BuildRecord,
) -> Vec<ResumePoint> {
    let done = last
        .stages
        .iter()
        .zip(&build.steps)
        .take_while(|(old, step)| old.state == StageState::Done && old.stage == step.stage)
        .count();
    build
        .resume_points
        .iter()
        .filter(|(_, number)| (1..=done).contains(number))
        .map(|(name, number)| ResumePoint {
            name: name.clone(),
            after: build.steps[number - 1].stage.clone(),
            files: files_before(build, directory, *number),
        })
        .collect()
}

/// Returns the sources and the outputs that the stages before this one left.
fn files_before(build: &Build, directory: &JobDirectory, number: usize) -> Vec<String> {
    let sources = directory.at(SOURCES);
    let sources = sources
        .check()
        .and_then(|()| sys::entry_names(&sources.path()))
        .unwrap_or_default();
    let mut files: Vec<String> = sources
        .iter()
        .map(|name| format!("{SOURCES}/{name}"))
        .collect();
    for output in build.steps[..number].iter().flat_map(|step| &step.outputs) {
        let found = sys::glob(directory.path(), &output.glob).unwrap_or_default();
        files.extend(found.iter().map(|path| {
            path.strip_prefix(directory.path())
                .unwrap_or(path)
                .display()
                .to_string()
        }));
    }
    files
}
