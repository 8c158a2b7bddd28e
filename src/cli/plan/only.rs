//! `plan --only`: the jobs with the values given on the command line.

use std::collections::BTreeSet;

use crate::codes::plan as codes;
use crate::compat::Compat;
use crate::diagnostic::nearest::{nearest, with_nearest};
use crate::diagnostic::{Diagnostic, Location, Sink};
use crate::plan::{JobView, Plan};

/// The name of a job's GPU targets, which need not be an axis.
const GFX: &str = "gfx";

/// Reads `AXIS=VALUE`.
pub(super) fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((axis, value)) if !axis.is_empty() => Ok((axis.to_owned(), value.to_owned())),
        _ => Err("expected AXIS=VALUE, such as torch=2.9.1".to_owned()),
    }
}

/// Replaces products and families among the values of `gfx` with their targets.
pub(super) fn with_targets(only: &[(String, String)], compat: &Compat) -> Vec<(String, String)> {
    let targets = |(axis, value): &(String, String)| -> Vec<(String, String)> {
        let named = if axis == GFX {
            compat.resolve_gfx(value).ok()
        } else {
            None
        };
        match named {
            Some(targets) => targets
                .iter()
                .map(|target| (axis.clone(), target.to_string()))
                .collect(),
            None => vec![(axis.clone(), value.clone())],
        }
    };
    only.iter().flat_map(targets).collect()
}

/// Keeps the jobs and the reasons for missing cells that have one of the given values for each
/// given axis; an empty value matches any. Reports axes and values that the matrix files do not
/// have.
pub(super) fn keep(plan: &mut Plan, only: &[(String, String)], sink: &mut Sink) {
    for (axis, value) in only {
        let known = known_values(plan, axis);
        let place = || Location::Argument(format!("--only {axis}={value}"));
        if known.is_none() {
            let axes = axes(plan);
            let message = format!("no matrix file has an axis `{axis}`");
            let message = with_nearest(message, nearest(axis, axes.iter().map(String::as_str)));
            let help = format!("name one of {}", join(&axes));
            sink.push(
                Diagnostic::new(&codes::UNKNOWN_JOB, message)
                    .at(place(), "")
                    .help(help),
            );
        }
        if let Some(known) = known.filter(|known| !value.is_empty() && !known.contains(value)) {
            let message = if axis == GFX {
                format!("no job builds for `{value}`")
            } else {
                format!("no matrix file has {axis} `{value}`")
            };
            let help = if known.is_empty() {
                format!("leave it out: no job has a value of {axis}")
            } else {
                format!("name one of {}", join(&known))
            };
            sink.push(
                Diagnostic::new(&codes::UNKNOWN_JOB, message)
                    .at(place(), "")
                    .help(help),
            );
        }
    }
    let axes: BTreeSet<&str> = only
        .iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(axis, _)| &**axis)
        .collect();
    let wanted = |job: JobView<'_>, axis: &str| {
        let mut values = only
            .iter()
            .filter(|(of, _)| of == axis)
            .map(|(_, value)| value.as_str());
        values.any(|value| !value.is_empty() && has(job, axis, value))
    };
    plan.keep(|job| axes.iter().all(|axis| wanted(job, axis)));
    // A reason without a value of an axis applies to all values.
    let is_one =
        |axis: &str, value: &String| only.iter().any(|(of, one)| of == axis && one == value);
    plan.keep_excluded(|row| {
        axes.iter()
            .all(|axis| row.get(*axis).is_none_or(|value| is_one(axis, value)))
    });
}

/// Whether the job has this value, itself or as one that it covers.
fn has(job: JobView<'_>, axis: &str, value: &str) -> bool {
    if axis == GFX {
        return job.gfx().iter().any(|target| target.to_string() == value);
    }
    job.axes().any(|pair| pair == (axis, value))
        || job
            .covers()
            .get(axis)
            .is_some_and(|covered| covered.iter().any(|text| text == value))
}

/// Returns every value of an axis; `None` if there is no such axis.
fn known_values(plan: &Plan, axis: &str) -> Option<BTreeSet<String>> {
    if axis == GFX {
        return Some(
            plan.jobs()
                .flat_map(|job| job.gfx().iter().map(ToString::to_string))
                .collect(),
        );
    }
    let columns = || {
        plan.groups
            .iter()
            .flat_map(|group| group.universe.axes())
            .filter(|column| column.name == axis)
    };
    columns().next()?;
    Some(
        columns()
            .flat_map(|column| column.values.iter().flatten())
            .map(|value| value.text.clone())
            .collect(),
    )
}

fn axes(plan: &Plan) -> BTreeSet<String> {
    let columns = plan.groups.iter().flat_map(|group| group.universe.axes());
    columns
        .map(|column| column.name.clone())
        .chain([GFX.to_owned()])
        .collect()
}

fn join(words: &BTreeSet<String>) -> String {
    words
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(", ")
}
