//! A plan as Markdown tables, for the summary of a workflow job.

use std::fmt::Write as _;

use super::actions::table;
use rock_diagnostic::{
    counted,
    markdown::{code, text as text_of},
};
use rock_plan::{Plan, SelectedFrom};

/// Renders the coverage of each matrix file, then one row per job with the estimated cost of its
/// build, within `room` bytes.
pub fn summary(plan: &Plan, room: usize) -> String {
    let mut text = coverage(plan);
    let count = plan.job_count();
    let _ = write!(text, "### {}\n\n", counted(count, "job"));
    if count > 0 {
        text.push_str("| wheel | gfx targets | runner | estimate |\n| --- | --- | --- | --- |\n");
    }
    if let Some(hours) = plan.runner_hours() {
        text.insert_str(
            text.rfind("\n| wheel").map_or(text.len(), |at| at + 1),
            &format!("Builds take {hours}.\n\n"),
        );
    }
    let rows = plan.jobs().map(|job| {
        let gfx: Vec<String> = job.gfx().iter().map(ToString::to_string).collect();
        let estimate = job
            .estimate()
            .map_or("", |estimate| estimate.verdict.as_str());
        let words = [
            gfx.join(" "),
            job.machine().labels.join(" "),
            estimate.to_owned(),
        ]
        .map(|word| text_of(&word));
        format!("| {} | {} |\n", code(&job.wheel()), words.join(" | "))
    });
    table(&text, rows, "job", room)
}

/// Renders one row per matrix file, and the share of wheels that are published.
fn coverage(plan: &Plan) -> String {
    let mut text =
        "### Coverage\n\n| matrix file | cells | excluded | legs | jobs |\n| --- | --- | --- | --- | --- |\n"
            .to_owned();
    for group in &plan.groups {
        let path = code(&group.config.locations.source().path);
        let jobs = group.job_count();
        // With a filter, reasons of other cells are left out, so the difference counts all excluded
        // cells.
        let (excluded, jobs) = match group.selected_from {
            Some(SelectedFrom::All(all)) => (
                group.cell_count.saturating_sub(group.legs),
                format!("{} of {all}", jobs + group.published_count()),
            ),
            Some(SelectedFrom::Planned) | None => (
                group.excluded.iter().map(|row| row.count).sum(),
                jobs.to_string(),
            ),
        };
        let _ = writeln!(
            text,
            "| {path} | {} | {excluded} | {} | {jobs} |",
            group.cell_count, group.legs
        );
    }
    let (published, not_failed) = (plan.published.len(), plan.not_failed().len());
    if not_failed > 0 {
        let _ = writeln!(
            text,
            "\n{} omitted, because they did not fail in the run.",
            counted(not_failed, "job")
        );
    }
    if published > 0 {
        let all = published + not_failed + plan.job_count();
        let percent = 100 * published / all;
        let _ = writeln!(
            text,
            "\n{published} of {} are already published, {percent} %.",
            counted(all, "wheel")
        );
    }
    text + "\n"
}
