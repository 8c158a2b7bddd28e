//! Which jobs of a run failed: those that built no wheel, and those whose wheel did not pass its
//! test.

use std::collections::BTreeSet;

use super::{
    ExpectedCells, JobOutcomes, MatchedArchive, MatchedCell, WheelListing, called, markdown,
    matched, matched_archives,
};

/// What a run lacks to be published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFailures {
    /// How many wheels and archives are planned.
    pub planned: usize,
    /// What these are called: `wheel`, `archive`, or `file` where there are both.
    pub noun: &'static str,
    /// Those that are not built.
    pub absent: Vec<MissingFile>,
    /// Those that are built, and of whose job the last result is bad.
    pub untested: Vec<MissingFile>,
}

/// One planned wheel or archive, and what is known of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingFile {
    /// The expected wheel or archive.
    file: String,
    /// Its job.
    job: String,
    /// What happened, in one line.
    why: String,
}

impl MissingFile {
    /// The columns of [`Self::cells`], by what the files are called.
    pub fn head(noun: &str) -> [&str; 3] {
        [noun, "job", "what happened"]
    }

    /// Its row of a table, in Markdown.
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
    // What was published before has no job, and is not of this run.
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

/// The planned wheels and archives that are not there.
pub(super) fn absent(
    found: &[MatchedCell<'_>],
    archives: &[MatchedArchive<'_>],
    outcomes: &JobOutcomes,
) -> Vec<MissingFile> {
    absent_but(found, archives, &BTreeSet::new(), outcomes)
}

/// The same, without those of the jobs in `reported`.
fn absent_but(
    found: &[MatchedCell<'_>],
    archives: &[MatchedArchive<'_>],
    reported: &BTreeSet<String>,
    outcomes: &JobOutcomes,
) -> Vec<MissingFile> {
    each(found, archives, reported, false, |job| {
        Some(outcomes.why(job).unwrap_or("no result is known"))
    })
}

/// Each file once that is there, or is not, of whose job there is something to tell.
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
