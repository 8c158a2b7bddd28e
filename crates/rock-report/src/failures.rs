//! The failed jobs of a run: those that built no wheel, and those whose wheel did not pass its
//! tests.

use std::collections::BTreeSet;

use super::{
    ExpectedCells, JobOutcomes, MatchedArchive, MatchedCell, WheelListing, called, markdown,
    matched, matched_archives,
};
use rock_diagnostic::markdown::limited_table;
use rock_diagnostic::{counted, is_or_are};

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

impl RunFailures {
    /// Returns a Markdown table of the missing files and one of the untested files. Both, and some
    /// text above them, fit in a step's summary of `summary_bytes`.
    pub fn text(&self, summary_bytes: usize) -> String {
        let table_bytes = (summary_bytes / 2).saturating_sub(1024);
        let (absent, untested, noun) = (self.absent.len(), self.untested.len(), self.noun);
        let absent_title = format!(
            "{absent} of the {} {} missing:",
            counted(self.planned, &format!("planned {noun}")),
            is_or_are(absent)
        );
        let untested_title = format!(
            "{} {} built and did not pass the test:",
            counted(untested, noun),
            is_or_are(untested)
        );
        let tables: Vec<String> = [
            (&self.absent, absent_title),
            (&self.untested, untested_title),
        ]
        .into_iter()
        .filter(|(files, _)| !files.is_empty())
        .map(|(files, title)| file_table(files, &title, noun, table_bytes))
        .collect();
        if tables.is_empty() {
            return "No job recorded what failed: see the logs of the run.\n".to_owned();
        }
        tables.join("\n")
    }
}

fn file_table(files: &[MissingFile], title: &str, noun: &str, limit_bytes: usize) -> String {
    let head = table_line(&MissingFile::head(noun)) + &table_line(&["---"; 3]);
    let rows = files
        .iter()
        .map(|file| table_line(&file.cells().each_ref().map(String::as_str)));
    limited_table(&format!("{title}\n\n{head}"), rows, noun, limit_bytes)
}

fn table_line(cells: &[&str]) -> String {
    format!("| {} |\n", cells.join(" | "))
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

#[cfg(test)]
mod tests {
    use super::{MissingFile, RunFailures};

    fn failures(absent: Vec<MissingFile>) -> RunFailures {
        RunFailures {
            planned: 3,
            noun: "wheel",
            absent,
            untested: Vec::new(),
        }
    }

    #[test]
    fn missing_files_are_a_table_with_their_jobs() {
        let file = MissingFile {
            file: "a.whl".to_owned(),
            job: "j".to_owned(),
            why: "failed".to_owned(),
        };
        let text = failures(vec![file]).text(1 << 20);
        assert!(
            text.starts_with("1 of the 3 planned wheels is missing:\n\n| wheel | job |"),
            "{text}"
        );
        assert!(text.ends_with("| `a.whl` | `j` | failed |\n"), "{text}");
        assert!(
            failures(vec![])
                .text(1 << 20)
                .starts_with("No job recorded")
        );
    }
}
