//! Renders a plan for people: one line per job, the omitted wheels, and notes on the next steps.

use std::fmt::Write as _;

use indexmap::IndexMap;

use rock_diagnostic::{count_more, counted};
use rock_plan::matrix::ExclusionRow;
use rock_plan::{JobChange, JobView, Plan};

/// The amount of detail in a rendered plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanDetail {
    /// Jobs, totals, and one line for each reason why cells are excluded.
    Summary,
    /// Also the excluded cells with the source of each reason, and every dropped gfx target.
    Explain,
}

/// The maximum number of jobs to show; the rest is only counted.
const SHOWN: usize = 400;

/// The maximum number of reasons for excluded cells to show without [`PlanDetail::Explain`].
const REASONS_SHOWN: usize = 10;

/// The maximum number of omitted wheels to name without [`PlanDetail::Explain`].
const WHEELS_SHOWN: usize = 20;

/// Renders a plan as text.
pub fn plan(plan: &Plan, notes: &[String], detail: PlanDetail) -> String {
    let mut text = String::new();
    for (number, group) in plan.groups.iter().enumerate() {
        let path = &group.config.places.source().path;
        let excluded: u64 = group.excluded.iter().map(|row| row.count).sum();
        let _ = writeln!(
            text,
            "{path}: {}, {}, {excluded} excluded{}{}{}",
            counted(group.raw, "cell"),
            counted(group.job_count(), "job"),
            unless_none(group.shared_legs, " share another job's wheel"),
            unless_none(group.not_failed.len() as u64, " did not fail in the run"),
            if group.config.enabled {
                ""
            } else {
                " (enabled: false)"
            },
        );
        let jobs: Vec<JobView<'_>> = group.jobs(number).take(SHOWN).collect();
        let width = jobs.iter().map(|job| job.wheel().len()).max().unwrap_or(0);
        for job in &jobs {
            let gfx: Vec<String> = job.gfx().iter().map(ToString::to_string).collect();
            let gfx = if gfx.is_empty() {
                "no device code".to_owned()
            } else {
                gfx.join(" ")
            };
            let _ = writeln!(
                text,
                "  {:width$}  {gfx}{}",
                job.wheel(),
                unnamed_axes(*job)
            );
            for wheel in job.further_wheels() {
                let _ = writeln!(text, "    and {wheel}");
            }
            if detail == PlanDetail::Explain {
                explain_job(job, &mut text);
            }
        }
        for (verdict, count) in estimates(group.jobs(number)) {
            let each = if count == 1 {
                "1 job".to_owned()
            } else {
                format!("{count} jobs, each")
            };
            let _ = writeln!(text, "  {each}: {verdict}");
        }
        explain_jobs(group.jobs(number), detail, &mut text);
        if group.job_count() > SHOWN {
            let _ = writeln!(
                text,
                "  … {}; `--format json` lists all",
                count_more(group.job_count() - SHOWN, "and ")
            );
        }
        if detail == PlanDetail::Summary {
            summarize_excluded(&group.excluded, &mut text);
        }
    }
    if detail == PlanDetail::Explain {
        explain_excluded(plan, &mut text);
    }
    let published: Vec<&str> = plan.published.iter().map(String::as_str).collect();
    tell_wheels("already published", &published, detail, &mut text);
    tell_wheels(
        "did not fail in the run",
        &plan.not_failed(),
        detail,
        &mut text,
    );
    for note in notes {
        let _ = writeln!(text, "note: {note}");
    }
    text
}

/// Returns the axes that the name of a wheel with an open version does not show, such as the branch
/// of torch.
fn unnamed_axes(job: JobView<'_>) -> String {
    const NAMED: [&str; 4] = ["python", "rocm", "torch", "gfx"];
    if !job.wheel().contains('*') {
        return String::new();
    }
    job.axes()
        .filter(|(name, _)| !NAMED.contains(name))
        .map(|(name, value)| format!("  {name} {value}"))
        .collect()
}

/// Returns the estimated costs of builds: each verdict once, with its number of jobs, in job order.
fn estimates<'a>(jobs: impl Iterator<Item = JobView<'a>>) -> Vec<(&'a str, usize)> {
    let mut verdicts: Vec<(&str, usize)> = Vec::new();
    for estimate in jobs.filter_map(JobView::estimate) {
        match verdicts
            .iter_mut()
            .find(|(verdict, _)| *verdict == estimate.verdict)
        {
            Some((_, count)) => *count += 1,
            None => verdicts.push((&estimate.verdict, 1)),
        }
    }
    verdicts
}

fn unless_none(count: u64, what: &str) -> String {
    if count == 0 {
        String::new()
    } else {
        format!(", {count}{what}")
    }
}

fn explain_job(job: &JobView<'_>, text: &mut String) {
    let _ = writeln!(text, "    id {}", job.id());
    for (axis, values) in job.covers() {
        let _ = writeln!(text, "    covers {axis} {}", values.join(", "));
    }
}

/// Writes the messages about jobs, each once with its number of jobs: warnings of the package and,
/// with [`PlanDetail::Explain`], dropped targets and all other warnings.
fn explain_jobs<'a>(
    jobs: impl Iterator<Item = JobView<'a>>,
    detail: PlanDetail,
    text: &mut String,
) {
    let mut lines: IndexMap<String, usize> = IndexMap::new();
    for job in jobs {
        let mut add = |line: String| *lines.entry(line).or_default() += 1;
        if detail == PlanDetail::Explain {
            job.dropped_gfx()
                .for_each(|(target, reason)| add(format!("without {target}: {reason}")));
            job.warnings().for_each(|warning| add(warning.to_owned()));
        } else {
            job.package_warning()
                .into_iter()
                .for_each(|warning| add(warning.to_owned()));
        }
    }
    for (line, count) in lines {
        let _ = writeln!(text, "  {}: {line}", counted(count, "job"));
    }
}

/// Writes one line for each reason why cells are excluded, the most frequent first.
fn summarize_excluded(excluded: &[ExclusionRow], text: &mut String) {
    let mut reasons: IndexMap<(&str, String), u64> = IndexMap::new();
    for row in excluded {
        *reasons
            .entry((row.reason.as_str(), row.code.to_string()))
            .or_default() += row.count;
    }
    reasons.sort_by(|_, one, _, other| other.cmp(one));
    for ((reason, code), count) in reasons.iter().take(REASONS_SHOWN) {
        let _ = writeln!(
            text,
            "  {} excluded: {reason} [{code}]",
            counted(*count, "cell")
        );
    }
    if reasons.len() > REASONS_SHOWN {
        let _ = writeln!(
            text,
            "  … and {}; `--explain` shows all",
            counted(reasons.len() - REASONS_SHOWN, "more reason")
        );
    }
}

fn explain_excluded(plan: &Plan, text: &mut String) {
    for group in plan
        .groups
        .iter()
        .filter(|group| !group.excluded.is_empty())
    {
        let _ = writeln!(
            text,
            "\nexcluded from {}:",
            group.config.places.source().path
        );
        for row in &group.excluded {
            let axes: Vec<String> = row
                .axes
                .iter()
                .map(|(name, value)| format!("{name} {value}"))
                .collect();
            let _ = writeln!(
                text,
                "  {} ({}) [{}]",
                axes.join(" × "),
                counted(row.count, "cell"),
                row.code
            );
            let _ = writeln!(text, "    {}", row.reason);
            if !row.hint.is_empty() {
                let _ = writeln!(text, "    help: {}", row.hint);
            }
            if !row.source.is_empty() {
                let _ = writeln!(text, "    from {}", row.source);
            }
        }
    }
}

/// Names the wheels that are left out for a reason: all with [`PlanDetail::Explain`], else the
/// first few.
fn tell_wheels(why: &str, wheels: &[&str], detail: PlanDetail, text: &mut String) {
    if wheels.is_empty() {
        return;
    }
    let shown = if detail == PlanDetail::Explain {
        wheels.len()
    } else {
        WHEELS_SHOWN
    };
    let _ = writeln!(text, "\n{why}:");
    for wheel in wheels.iter().take(shown) {
        let _ = writeln!(text, "  {wheel}");
    }
    if wheels.len() > shown {
        let _ = writeln!(
            text,
            "  … {}; `--explain` lists all",
            count_more(wheels.len() - shown, "and ")
        );
    }
}

/// Renders the differences between two plans as text.
pub fn changes(changes: &[JobChange]) -> String {
    let mut text = String::new();
    for change in changes {
        let _ = match change {
            JobChange::Added { id, wheel } => writeln!(text, "+ {id}  {wheel}"),
            JobChange::Removed { id, wheel } => writeln!(text, "- {id}  {wheel}"),
            JobChange::Changed { id, fields } => writeln!(text, "~ {id}  {}", fields.join("; ")),
        };
    }
    let verb = if changes.len() == 1 {
        "differs"
    } else {
        "differ"
    };
    let _ = writeln!(text, "{} {verb}", counted(changes.len(), "job"));
    text
}
