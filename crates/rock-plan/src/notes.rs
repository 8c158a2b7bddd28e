//! Notes about a whole plan, for people.

use std::collections::BTreeSet;

use crate::{JOBS_PER_MATRIX, JobView, Plan};
use rock_compat::Compat;

/// Returns notes about a plan: its size, if it exceeds one matrix, and GPU families whose wheels
/// nothing tests.
pub fn notes(plan: &Plan, compat: &Compat) -> Vec<String> {
    [size_note(plan, compat), untested_note(plan)]
        .into_iter()
        .flatten()
        .collect()
}

fn size_note(plan: &Plan, compat: &Compat) -> Option<String> {
    let (jobs, most) = (plan.job_count(), plan.jobs_per_matrix);
    if jobs <= most {
        return None;
    }
    let mut note = format!(
        "{jobs} jobs make {} matrices of at most {most}",
        jobs.div_ceil(most)
    );
    if jobs > JOBS_PER_MATRIX {
        let in_one_run = compat.limit_value("job-artifacts");
        note += &if jobs <= in_one_run {
            format!("; a rendered workflow has them in one run, up to {in_one_run} jobs")
        } else {
            format!(
                "; a rendered workflow has up to {in_one_run} jobs, so render several with fewer matrix files each"
            )
        };
    }
    Some(note)
}

fn untested_note(plan: &Plan) -> Option<String> {
    let families: BTreeSet<&str> = plan
        .jobs()
        .flat_map(JobView::families_without_runner)
        .collect();
    let names = families.into_iter().collect::<Vec<_>>().join(", ");
    (!names.is_empty())
        .then(|| format!("no runner is known for {names}, so nothing is tested there"))
}
