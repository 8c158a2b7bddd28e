//! Which jobs of a run failed: those that built no wheel, and those whose wheel did not pass its test.

use std::collections::BTreeSet;

use super::{Expected, Matched, Outcomes, Wheels, markdown, matched};

/// What a run lacks to be published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failures {
    /// How many wheels are planned.
    pub planned: usize,
    /// Those that are not built.
    pub absent: Vec<Failed>,
    /// Those that are built, and of whose job the last result is bad.
    pub untested: Vec<Failed>,
}

/// One planned wheel, and what is known of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failed {
    /// The expected wheel.
    wheel: String,
    /// Its job.
    job: String,
    /// What happened, in one line.
    why: String,
}

impl Failed {
    /// The columns of [`Self::cells`].
    pub const HEAD: [&'static str; 3] = ["wheel", "job", "what happened"];

    /// Its row of a table, in Markdown.
    pub fn cells(&self) -> [String; 3] {
        [markdown::code(&self.wheel), markdown::code(&self.job), markdown::message(&self.why)]
    }
}

/// What is wrong with the wheels that were built of a plan.
pub fn failures(expected: &Expected, built: &Wheels, outcomes: &Outcomes) -> Failures {
    let found = matched(expected, built);
    // What was published before has no job, and is not of this run.
    let of_jobs = found.iter().filter(|matched| matched.cell.job.is_some());
    let planned: BTreeSet<_> = of_jobs.map(|matched| (&matched.cell.wheel, &matched.cell.job)).collect();
    let untested = each(found.iter().filter(|matched| matched.by.is_some()), |job| outcomes.fault(job));
    Failures { planned: planned.len(), absent: absent(&found, outcomes), untested }
}

/// The planned wheels that are not there.
pub(super) fn absent(found: &[Matched<'_>], outcomes: &Outcomes) -> Vec<Failed> {
    let missing = found.iter().filter(|matched| matched.by.is_none());
    each(missing, |job| Some(outcomes.why(job).unwrap_or("no result is known")))
}

/// Each wheel once, of whose job there is something to tell.
fn each<'a>(found: impl Iterator<Item = &'a Matched<'a>>, why: impl Fn(&str) -> Option<&'a str>) -> Vec<Failed> {
    let mut seen = BTreeSet::new();
    let failed = |matched: &Matched<'_>| {
        let job = matched.cell.job.as_ref()?;
        let (wheel, why) = (matched.cell.wheel.clone(), why(job)?.to_owned());
        seen.insert((wheel.clone(), job.clone())).then(|| Failed { wheel, job: job.clone(), why })
    };
    found.filter_map(failed).collect()
}
