//! Keeps the jobs of a plan that have given values of axes.
//!
//! **Invariant:** an axis or value that no matrix file has is an error, and never an empty plan.

use std::collections::BTreeSet;

use crate::codes::plan as codes;
use crate::matrix::CellSelection;
use crate::{JobView, Plan};
use rock_compat::Compat;
use rock_diagnostic::nearest::{nearest, with_nearest};
use rock_diagnostic::{Diagnostic, Diagnostics, Location};

/// The name of a job's GPU targets, which need not be an axis.
const GFX: &str = "gfx";

/// Values of axes that jobs must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AxisFilter {
    /// Axes and values in the given order; several values of an axis are alternatives, and an empty
    /// value matches any.
    values: Vec<(String, String)>,
}

impl AxisFilter {
    /// Creates a filter of pairs of axis and value; products and families among the values of `gfx`
    /// are replaced with their targets.
    pub fn new(values: &[(String, String)], compat: &Compat) -> Self {
        let resolve = |(axis, value): &(String, String)| -> Vec<(String, String)> {
            let targets = (axis == GFX)
                .then(|| compat.resolve_gfx(value).ok())
                .flatten();
            match targets {
                Some(targets) => targets
                    .iter()
                    .map(|target| (axis.clone(), target.to_string()))
                    .collect(),
                None => vec![(axis.clone(), value.clone())],
            }
        };
        Self {
            values: values.iter().flat_map(resolve).collect(),
        }
    }

    /// Whether the filter keeps every job.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns the cells that the kept jobs are built from.
    pub fn cells(&self) -> CellSelection {
        let named = self.values.iter().filter(|(_, value)| !value.is_empty());
        CellSelection::new(named.cloned().collect())
    }

    /// Drops the jobs, and the reasons for missing cells, that do not have one of the values of each
    /// axis.
    ///
    /// # Errors
    /// Axes and values that the matrix files do not have; the plan is then unchanged.
    pub fn apply(&self, plan: &mut Plan) -> Result<(), Diagnostics> {
        let errors = self
            .values
            .iter()
            .filter_map(|(axis, value)| unknown_value(plan, axis, value))
            .collect();
        Diagnostics::check(errors)?;
        let axes: BTreeSet<&str> = self
            .values
            .iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(axis, _)| &**axis)
            .collect();
        plan.keep(|job| axes.iter().all(|axis| self.matches(job, axis)));
        // A reason without a value of an axis applies to all values.
        plan.keep_excluded(|row| {
            axes.iter()
                .all(|axis| row.get(*axis).is_none_or(|value| self.has(axis, value)))
        });
        Ok(())
    }

    /// Whether the job has one of the values of the axis.
    fn matches(&self, job: JobView<'_>, axis: &str) -> bool {
        self.values
            .iter()
            .filter(|(of, value)| of == axis && !value.is_empty())
            .any(|(_, value)| job_has(job, axis, value))
    }

    /// Whether this is one of the values of the axis.
    fn has(&self, axis: &str, value: &str) -> bool {
        self.values
            .iter()
            .any(|(of, one)| of == axis && one == value)
    }
}

/// Returns the error for an axis or a value that no matrix file has.
fn unknown_value(plan: &Plan, axis: &str, value: &str) -> Option<Diagnostic> {
    let place = Location::Argument(format!("--only {axis}={value}"));
    let Some(known) = known_values(plan, axis) else {
        let axes = axes(plan);
        let message = format!("no matrix file has an axis `{axis}`");
        let message = with_nearest(message, nearest(axis, axes.iter().map(String::as_str)));
        let error = Diagnostic::new(&codes::UNKNOWN_JOB, message).at(place, "");
        return Some(error.help(format!("name one of {}", join(&axes))));
    };
    // Without jobs, the reasons for that are more useful than the lack of a target.
    let is_without_jobs = axis == GFX && plan.jobs().next().is_none();
    if value.is_empty() || known.contains(value) || is_without_jobs {
        return None;
    }
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
    Some(
        Diagnostic::new(&codes::UNKNOWN_JOB, message)
            .at(place, "")
            .help(help),
    )
}

/// Whether the job has this value, itself or as one that it covers.
fn job_has(job: JobView<'_>, axis: &str, value: &str) -> bool {
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
