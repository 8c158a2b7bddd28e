//! The failed jobs of a run: those that built no wheel, and those whose wheel did not pass its
//! tests.

use std::collections::BTreeSet;

use super::{
    ExpectedCells, JobOutcomes, MatchedArchive, MatchedCell, WheelListing, called, markdown,
    matched, matched_archives,
};

/// The planned files of a run that are missing or failed their tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFailures {
    /// The number of planned wheels and archives.
    pub planned: usize,
    /// The noun for these files: `wheel`, `archive`, or `file` if there are both.
    pub noun: &'static str,
    /// Files that were not built.
    pub absent: Vec<MissingFile>,
    /// Files that were built, but the last result of their job is a failure.
    pub untested: Vec<MissingFile>,
}

/// A planned wheel or archive, and the outcome of its job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingFile {
    file: String,
    job: String,
    /// The outcome, in one line.
    why: String,
}

impl MissingFile {
    /// Returns the column headers for [`Self::cells`]. `noun` is the noun for the files.
    pub fn head(noun: &str) -> [&str; 3] {
        [noun, "job", "what happened"]
    }

    /// Returns the cells of a table row, in Markdown.
    pub fn cells(&self) -> [String; 3] {
        [
            markdown::code(&self.file),
            markdown::code(&self.job),
            markdown::message(&self.why),
        ]
    }
}

/// Compares the wheels and archives of a plan with those that were built: the files in `built`, and
/// those of the jobs in `reported`.
pub fn failures(
    expected: &ExpectedCells,
    built: &WheelListing,
    reported: &BTreeSet<String>,
    outcomes: &JobOutcomes,
) -> RunFailures {
    let (found, archives) = (matched(expected, built), matched_archives(expected, built));
    // Published wheels that the plan skips have no job and do not belong to this run.
    let of_jobs = found.iter().filter(|matched| matched.cell.job.is_some());
    let planned: BTreeSet<_> = of_jobs
        .map(|matched| (&matched.cell.wheel, &matched.cell.job))
        .collect();
    let planned_archives = archives
        .iter()
        .filter(|found| found.archive.job.is_some())
        .count();
    RunFailures {
        planned: planned.len() + planned_archives,
        noun: called(planned.len(), planned_archives),
        absent: absent_but(&found, &archives, reported, outcomes),
        untested: each(&found, &archives, reported, true, |job| outcomes.fault(job)),
    }
}

/// Returns the planned wheels and archives that are missing.
pub(super) fn absent(
    found: &[MatchedCell<'_>],
    archives: &[MatchedArchive<'_>],
    outcomes: &JobOutcomes,
) -> Vec<MissingFile> {
    absent_but(found, archives, &BTreeSet::new(), outcomes)
}

/// Returns the missing files, except those of the jobs in `reported`.
fn absent_but(
    found: &[MatchedCell<'_>],
    archives: &[MatchedArchive<'_>],
    reported: &BTreeSet<String>,
    outcomes: &JobOutcomes,
) -> Vec<MissingFile> {
    each(found, archives, reported, false, |job| {
        Some(outcomes.why(job).unwrap_or("its result is unknown"))
    })
}

/// Returns the files that are present, or missing, according to `is_there`, each once per job.
/// Files without a job, or for whose job `why` returns `None`, are left out.
fn each<'a>(
    found: &[MatchedCell<'_>],
    archives: &[MatchedArchive<'_>],
    reported: &BTreeSet<String>,
    is_there: bool,
    why: impl Fn(&str) -> Option<&'a str>,
) -> Vec<MissingFile> {
    let mut seen = BTreeSet::new();
    let is_reported = |job: &Option<String>| job.as_ref().is_some_and(|job| reported.contains(job));
    let wheels = found
        .iter()
        .map(|one| (&one.cell.wheel, &one.cell.job, one.by.is_some()));
    let archives = archives
        .iter()
        .map(|one| (&one.archive.name.text, &one.archive.job, one.is_there));
    let failed = |(file, job): (&String, &Option<String>)| {
        let job = job.as_ref()?;
        let (file, why) = (file.clone(), why(job)?.to_owned());
        seen.insert((file.clone(), job.clone()))
            .then(|| MissingFile {
                file,
                job: job.clone(),
                why,
            })
    };
    let files = wheels
        .chain(archives)
        .filter(|(_, job, is_found)| (*is_found || is_reported(job)) == is_there);
    files
        .map(|(file, job, _)| (file, job))
        .filter_map(failed)
        .collect()
}
