//! A plan as a table of Markdown, for the summary of a workflow's job.

use std::fmt::Write as _;

use crate::diagnostic::counted;
use crate::plan::Plan;

/// Room for the line that says how many are left out.
const LAST_LINE: usize = 80;

/// One row a job with what its build is likely to cost, cut at a row so that it stays within `most` bytes.
pub fn summary(plan: &Plan, most: usize) -> String {
    let count = plan.job_count();
    let mut text = format!("### {}\n\n", counted(count as u64, "job"));
    if count > 0 {
        text.push_str("| wheel | gfx targets | runner | estimate |\n| --- | --- | --- | --- |\n");
    }
    for (number, job) in plan.jobs().enumerate() {
        let gfx: Vec<String> = job.gfx().iter().map(ToString::to_string).collect();
        let estimate = job.estimate().map_or("", |estimate| estimate.verdict.as_str());
        let words = [format!("`{}`", job.wheel()), gfx.join(" "), job.place().labels.join(" "), estimate.to_owned()];
        let row = words.map(|word| word.replace('|', "\\|")).join(" | ");
        if text.len() + row.len() + LAST_LINE > most {
            let _ = writeln!(
                text,
                "\n{} left out of this summary; the plan has them.",
                counted((count - number) as u64, "job")
            );
            break;
        }
        let _ = writeln!(text, "| {row} |");
    }
    text
}
