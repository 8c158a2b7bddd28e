//! Renders a saved plan for people, as far as the document has what a new plan shows.

use std::fmt::Write as _;

use indexmap::IndexMap;

use rock_diagnostic::{count_more, counted};
use rock_plan::{Job, SavedExclusion, SavedPlan};

use super::plan::{PlanDetail, SHOWN, explain_dropped_gfx, tell_wheels, write_exclusion_change};

/// Renders a saved plan as text: the jobs of each matrix file, and the reasons for excluded cells.
pub fn saved_plan(saved: &SavedPlan, detail: PlanDetail) -> String {
    let mut files: IndexMap<&str, Vec<&Job>> = IndexMap::new();
    for job in &saved.jobs {
        let jobs = files.entry(job.settings.matrix.as_str()).or_default();
        jobs.push(job);
    }
    let mut text = String::new();
    for (path, jobs) in &files {
        let _ = writeln!(text, "{path}: {}", counted(jobs.len(), "job"));
        write_jobs(jobs, detail, &mut text);
    }
    match detail {
        PlanDetail::Summary => summarize_excluded(&saved.excluded, &mut text),
        PlanDetail::Explain => explain_excluded(&saved.excluded, &mut text),
    }
    let published: Vec<&str> = saved.published.iter().map(String::as_str).collect();
    tell_wheels("already published", &published, detail, &mut text);
    text
}

/// Writes the wheels and targets of the jobs of a matrix file, and the targets that are left out.
fn write_jobs(jobs: &[&Job], detail: PlanDetail, text: &mut String) {
    let shown = &jobs[..jobs.len().min(SHOWN)];
    let width = shown.iter().map(|job| job.wheel.len()).max().unwrap_or(0);
    for job in shown {
        let gfx: Vec<String> = job.gfx.iter().map(ToString::to_string).collect();
        let gfx = if gfx.is_empty() {
            "no device code".to_owned()
        } else {
            gfx.join(" ")
        };
        let _ = writeln!(text, "  {:width$}  {gfx}", job.wheel);
        for wheel in &job.extra_wheels {
            let _ = writeln!(text, "    and {wheel}");
        }
        if detail == PlanDetail::Explain {
            let _ = writeln!(text, "    id {}", job.id);
        }
    }
    // A saved plan has no sources of reasons.
    let dropped = jobs.iter().map(|job| {
        let dropped = job.dropped_gfx.iter();
        dropped.map(|one| (&one.target, one.reason.as_str(), ""))
    });
    explain_dropped_gfx(dropped, detail, text);
    if jobs.len() > SHOWN {
        let more = count_more(jobs.len() - SHOWN, "and ");
        let _ = writeln!(text, "  … {more}; `--format json` lists all");
    }
}

/// Writes one line for each reason why cells are excluded, the most frequent first.
fn summarize_excluded(excluded: &[SavedExclusion], text: &mut String) {
    let mut reasons: IndexMap<(String, &str, &str), u64> = IndexMap::new();
    for row in excluded {
        let place = format!("{} for {}", row.distribution, row.platform);
        *reasons
            .entry((place, row.reason.as_str(), row.code.as_str()))
            .or_default() += row.count;
    }
    reasons.sort_by(|_, one, _, other| other.cmp(one));
    for ((place, reason, code), count) in &reasons {
        let cells = counted(*count, "cell");
        let _ = writeln!(text, "{place}: {cells} excluded: {reason} [{code}]");
    }
}

/// Writes the excluded cells with their reasons.
fn explain_excluded(excluded: &[SavedExclusion], text: &mut String) {
    if !excluded.is_empty() {
        text.push_str("\nexcluded:\n");
    }
    for row in excluded {
        write_exclusion_change(&row.into(), text);
    }
}
