//! Renders a plan for people: one line per job, the omitted wheels, and notes on the next steps.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use indexmap::IndexMap;

use rock_diagnostic::{count_more, counted};
use rock_names::GfxTarget;
use rock_plan::matrix::{ExclusionRow, table_command};
use rock_plan::{ExclusionChange, JobChange, JobView, Plan, PlanDiff, PlanGroup, SelectedFrom};

/// The amount of detail in a rendered plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanDetail {
    /// Jobs, totals, and one line for each reason why cells or gfx targets are excluded.
    Summary,
    /// Also the excluded cells, and the source of each reason.
    Explain,
}

/// The maximum number of jobs to show; the rest is only counted.
pub(super) const SHOWN: usize = 400;

/// The maximum number of reasons for excluded cells to show without [`PlanDetail::Explain`].
const REASONS_SHOWN: usize = 10;

/// The maximum number of omitted wheels to name without [`PlanDetail::Explain`].
const WHEELS_SHOWN: usize = 20;

/// Renders a plan as text.
pub fn plan(plan: &Plan, notes: &[String], detail: PlanDetail) -> String {
    let mut text = String::new();
    for (number, group) in plan.groups.iter().enumerate() {
        let path = &group.config.locations.source().path;
        let _ = writeln!(
            text,
            "{path}: {}{}{}",
            counts(group),
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
            for wheel in job.extra_wheels() {
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
        let dropped = group.jobs(number).map(|job| {
            let dropped = job.dropped_gfx().iter();
            dropped.map(|(target, because)| (target, &*because.reason, &*because.source))
        });
        explain_dropped_gfx(dropped, detail, &mut text);
        if group.job_count() > SHOWN {
            let _ = writeln!(
                text,
                "  … {}; `--format json` lists all",
                count_more(group.job_count() - SHOWN, "and ")
            );
        }
        if detail == PlanDetail::Summary {
            summarize_excluded(group, &mut text);
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

/// Returns the numbers of cells and jobs of a matrix file or, with a filter, of selected jobs: the
/// other numbers would be those of all cells.
fn counts(group: &PlanGroup) -> String {
    let selected = group.job_count() + group.published_count() + group.not_failed.len();
    match group.selected_from {
        None => {
            let excluded: u64 = group.excluded.iter().map(|row| row.count).sum();
            format!(
                "{}, {}, {excluded} excluded{}",
                counted(group.cell_count, "cell"),
                counted(group.job_count(), "job"),
                unless_none(group.covered_legs, " share another job's wheel"),
            )
        }
        Some(SelectedFrom::All(all)) => {
            format!("{selected} of {} selected by --only", counted(all, "job"))
        }
        Some(SelectedFrom::Planned) => format!("{} selected by --only", counted(selected, "job")),
    }
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
    for product in job.covered_products() {
        let axes: Vec<String> = product
            .iter()
            .map(|(axis, values)| format!("{axis} {}", values.join(", ")))
            .collect();
        let _ = writeln!(text, "    covers {}", axes.join(" × "));
    }
}

/// Writes the messages about jobs, each once with its number of jobs: warnings of the package and,
/// with [`PlanDetail::Explain`], all other warnings.
fn explain_jobs<'a>(
    jobs: impl Iterator<Item = JobView<'a>>,
    detail: PlanDetail,
    text: &mut String,
) {
    let mut lines: IndexMap<String, usize> = IndexMap::new();
    for job in jobs {
        let mut add = |line: String| *lines.entry(line).or_default() += 1;
        if detail == PlanDetail::Explain {
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

/// Writes one line for each reason why jobs do not compile for requested targets, with the number
/// of these jobs, and the source of the reason with [`PlanDetail::Explain`]. `jobs` are the targets
/// of each job with reason and source.
pub(super) fn explain_dropped_gfx<'a, T>(
    jobs: impl Iterator<Item = T>,
    detail: PlanDetail,
    text: &mut String,
) where
    T: Iterator<Item = (&'a GfxTarget, &'a str, &'a str)>,
{
    let mut reasons: IndexMap<(&str, &str), DroppedTargets<'a>> = IndexMap::new();
    for (number, targets) in jobs.enumerate() {
        for (target, reason, source) in targets {
            let dropped = reasons.entry((reason, source)).or_default();
            if !dropped.targets.contains(&target) {
                dropped.targets.push(target);
            }
            if dropped.last_job != Some(number) {
                dropped.last_job = Some(number);
                dropped.jobs += 1;
            }
        }
    }
    for ((reason, source), dropped) in reasons {
        let targets: Vec<String> = dropped.targets.iter().map(ToString::to_string).collect();
        let _ = writeln!(
            text,
            "  {} without {}: {reason}",
            counted(dropped.jobs, "job"),
            targets.join(", ")
        );
        if detail == PlanDetail::Explain && !source.is_empty() {
            let _ = writeln!(text, "    from {source}");
        }
    }
}

/// The targets that jobs do not compile for, all for one reason.
#[derive(Debug, Default)]
struct DroppedTargets<'a> {
    targets: Vec<&'a GfxTarget>,
    /// Number of jobs.
    jobs: usize,
    /// The last counted job.
    last_job: Option<usize>,
}

/// Writes one line for each reason why cells are excluded, the most frequent first.
fn summarize_excluded(group: &PlanGroup, text: &mut String) {
    let excluded: &[ExclusionRow] = &group.excluded;
    let mut reasons: IndexMap<(&str, String), u64> = IndexMap::new();
    for row in excluded {
        *reasons
            .entry((row.reason.as_str(), row.code.to_string()))
            .or_default() += row.count;
    }
    reasons.sort_by(|_, one, _, other| other.cmp(one));
    for ((reason, code), count) in reasons.iter().take(REASONS_SHOWN) {
        let cells = excluded_cells(group, *count).map(|cells| cells + " ");
        let _ = writeln!(
            text,
            "  {}excluded: {reason} [{code}]",
            cells.unwrap_or_default()
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

/// Returns the number of cells that are excluded for a reason; `None` with a filter, because the
/// number would include cells that are not selected.
fn excluded_cells(group: &PlanGroup, count: u64) -> Option<String> {
    group
        .selected_from
        .is_none()
        .then(|| counted(count, "cell"))
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
            group.config.locations.source().path
        );
        for row in &group.excluded {
            let axes: Vec<String> = row
                .axes
                .iter()
                .map(|(name, value)| format!("{name} {value}"))
                .collect();
            let cells = excluded_cells(group, row.count).map(|cells| format!(" ({cells})"));
            let _ = writeln!(
                text,
                "  {}{} [{}]",
                axes.join(" × "),
                cells.unwrap_or_default(),
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
    let rows = plan.groups.iter().flat_map(|group| &group.excluded);
    let commands: BTreeSet<String> = rows.filter_map(|row| table_command(row.code)).collect();
    for command in commands {
        let _ = writeln!(text, "see these rows with `{command}`");
    }
}

/// Names the wheels that are left out for a reason: all with [`PlanDetail::Explain`], else the
/// first few.
pub(super) fn tell_wheels(why: &str, wheels: &[&str], detail: PlanDetail, text: &mut String) {
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
pub fn changes(diff: &PlanDiff) -> String {
    let mut text = String::new();
    for change in &diff.jobs {
        let _ = match change {
            JobChange::Added { id, wheel } => writeln!(text, "+ {id}  {wheel}"),
            JobChange::Removed { id, wheel } => writeln!(text, "- {id}  {wheel}"),
            JobChange::Changed { id, fields } => writeln!(text, "~ {id}  {}", fields.join("; ")),
        };
    }
    let verb = if diff.jobs.len() == 1 {
        "differs"
    } else {
        "differ"
    };
    let _ = writeln!(text, "{} {verb}", counted(diff.jobs.len(), "job"));
    for (title, rows) in [
        ("newly excluded", &diff.newly_excluded),
        ("no longer excluded", &diff.no_longer_excluded),
        ("no longer in the matrix", &diff.removed_exclusions),
    ] {
        if !rows.is_empty() {
            let _ = writeln!(text, "\n{title}:");
        }
        for row in rows {
            write_exclusion_change(row, &mut text);
        }
    }
    text
}

pub(super) fn write_exclusion_change(row: &ExclusionChange, text: &mut String) {
    let axes: Vec<String> = row
        .axes
        .iter()
        .map(|(name, value)| format!("{name} {value}"))
        .collect();
    let _ = writeln!(
        text,
        "  {} for {}: {} ({}) [{}]",
        row.distribution,
        row.platform,
        axes.join(" × "),
        counted(row.count, "cell"),
        row.code
    );
    let _ = writeln!(text, "    {}", row.reason);
}
