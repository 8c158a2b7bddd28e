//! Notes about a whole plan, for people.

use std::collections::BTreeSet;

use crate::config::LabelChoice;
use crate::{JOBS_PER_MATRIX, JobView, Plan};
use rock_compat::Compat;
use rock_names::LocalLabel;

/// Returns notes about a plan: its size, if it exceeds one matrix, GPU families whose wheels
/// nothing tests, and the reason why some of its labels have dots and others do not.
pub fn notes(plan: &Plan, compat: &Compat) -> Vec<String> {
    [
        size_note(plan, compat),
        untested_note(plan),
        label_note(plan),
    ]
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

fn label_note(plan: &Plan) -> Option<String> {
    let mut versions = BTreeSet::new();
    let groups = plan.groups.iter();
    for group in groups.filter(|group| group.config.label_style == LabelChoice::Auto) {
        let numbers: BTreeSet<u32> = group
            .compact_jobs
            .iter()
            .map(|compact| compact.label)
            .collect();
        let labels = numbers
            .into_iter()
            .filter_map(|number| group.interned.labels.get(number).as_ref());
        versions.extend(labels.filter_map(rocm_digits));
    }
    let (dotted, compact): (Vec<&str>, Vec<&str>) =
        versions.into_iter().partition(|text| text.contains('.'));
    let (dotted, compact) = (dotted.first()?, compact.first()?);
    Some(format!(
        "`rocm{dotted}` has dots because `rocm{}` could be another version, unlike `rocm{compact}`; \
         `label-style: dotted` gives all labels dots",
        dotted.replace('.', "")
    ))
}

/// Returns the digits and dots after `rocm` in a label: `64` of `rocm64torch2.9`.
fn rocm_digits(label: &LocalLabel) -> Option<&str> {
    let rest = label.as_str().strip_prefix("rocm")?;
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.');
    let digits = rest[..end.unwrap_or(rest.len())].trim_end_matches('.');
    Some(digits).filter(|digits| !digits.is_empty())
}
