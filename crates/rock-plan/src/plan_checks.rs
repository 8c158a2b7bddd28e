//! Checks the jobs of a plan.

use std::collections::BTreeMap;

use super::assemble::{Plan, PlanGroup};
use super::job::FAMILY;
use super::job_view::JobView;
use crate::codes::matrix;
use crate::codes::plan as codes;
use crate::config::{AxisRole, AxisValue, ParsedValue, TorchFrom, missing_variable};
use rock_compat::Compat;
use rock_diagnostic::{Diagnostic, Sink};

/// Checks that every job has the variables that its recipe requires, from `vars`, an axis, or its
/// own row.
pub(super) fn check_required_variables(plan: &Plan, sink: &mut Sink) {
    for (number, group) in plan.groups.iter().enumerate() {
        let of_file = |name: &String| {
            group
                .config
                .vars
                .get(name)
                .is_some_and(|value| !value.is_empty())
        };
        for name in group
            .profile
            .required_vars
            .iter()
            .filter(|name| !of_file(name))
        {
            let lacks = |job: &JobView<'_>| job.own_vars().get(name).is_none_or(String::is_empty);
            let lacking: Vec<String> = group.jobs(number).filter(lacks).map(JobView::id).collect();
            let Some(first) = lacking.first() else {
                continue;
            };
            let mut fault = missing_variable(&group.config, &group.profile, name);
            if lacking.len() < group.job_count() {
                fault = fault.note(format!(
                    "{} of {} jobs do not have it, such as `{first}`",
                    lacking.len(),
                    group.job_count()
                ));
            }
            sink.push(fault);
        }
    }
}

/// Checks that every job is for exactly one family if an index URL contains the family.
pub(super) fn check_family_of_indexes(plan: &Plan, sink: &mut Sink) {
    for (number, group) in plan.groups.iter().enumerate() {
        let named = group
            .config
            .indexes
            .iter()
            .find(|(_, address)| address.contains(FAMILY));
        let Some((name, address)) = named else {
            continue;
        };
        if let Some(job) = group.jobs(number).find(|job| job.families().len() != 1) {
            let families = job.families().join(";");
            let message = format!(
                "`{address}` is the index of one family, but the job `{}` is for `{families}`",
                job.id()
            );
            let fault = Diagnostic::new(&matrix::BAD_INDEX, message)
                .at(group.config.locations.of(&format!("indexes.{name}")), "");
            sink.push(fault.help(
                "list each family as a value of the axis `gfx`, or use an index of all families",
            ));
        }
    }
}

/// Warns about torch releases that jobs install from an index and that the compatibility data does
/// not list, although it lists others of their minor version (P019), and about versions of Python
/// and ROCm that it does not list at all (P095).
pub(super) fn warn_of_unknown_versions(plan: &Plan, compat: &Compat, sink: &mut Sink) {
    for group in &plan.groups {
        for role in [AxisRole::Torch, AxisRole::Python, AxisRole::Rocm] {
            let Some(axis) = group.space.position(role) else {
                continue;
            };
            let column = &group.space.axes()[axis];
            let values = column.values.iter().enumerate();
            let mut unknown: BTreeMap<usize, Diagnostic> = values
                .filter_map(|(index, value)| {
                    Some((index, unknown_version(group, value.as_ref()?, compat)?))
                })
                .collect();
            if unknown.is_empty() {
                continue;
            }
            for index in values_with_job(group, axis) {
                let path = format!("axes.{}[{index}]", column.name);
                let warning = unknown.remove(&index);
                sink.extend(warning.map(|one| one.at(group.config.locations.of(&path), "")));
            }
        }
    }
}

/// Returns the warning about an axis value that the compatibility data does not list.
fn unknown_version(group: &PlanGroup, value: &AxisValue, compat: &Compat) -> Option<Diagnostic> {
    let text = &value.text;
    match &value.value {
        ParsedValue::Torch(torch)
            if group.profile.installed_torch_from(&group.config).is_index() =>
        {
            let newest = compat.newest_release_if_unlisted(torch)?;
            let message = format!("torch {text} is not a known release");
            Some(
                Diagnostic::new(&codes::UNKNOWN_TORCH_RELEASE, message).help(format!(
                    "the newest known release of torch {} is {newest}; if {text} is newer than \
                     the compatibility data, ignore this",
                    torch.minor()
                )),
            )
        }
        ParsedValue::Python(python) => {
            let hint = compat.hint_if_unlisted_python(*python)?;
            let message = format!("Python {text} is not a known version");
            Some(Diagnostic::new(&codes::UNKNOWN_VERSION, message).help(hint))
        }
        ParsedValue::Rocm(rocm) if !has_rule_for_rocm(group) => {
            let hint = compat.hint_if_unlisted_rocm(rocm)?;
            let message = format!("ROCm {text} is not a known version");
            Some(Diagnostic::new(&codes::UNKNOWN_VERSION, message).help(hint))
        }
        _ => None,
    }
}

/// Returns whether a rule compares ROCm with torch, and reports an unknown version of it (P009).
fn has_rule_for_rocm(group: &PlanGroup) -> bool {
    let is_compared = matches!(
        group.profile.installed_torch_from(&group.config),
        TorchFrom::PytorchIndex | TorchFrom::Image
    );
    is_compared && group.space.position(AxisRole::Torch).is_some()
}

/// Returns the indexes of the values of an axis that jobs have or cover.
fn values_with_job(group: &PlanGroup, axis: usize) -> Vec<usize> {
    let mut has_job = vec![false; group.space.axes()[axis].values.len()];
    for job in &group.compact_jobs {
        has_job[group.space.index(job.cell, axis)] = true;
    }
    for covered in &group.interned.covered {
        for &cell in &covered.cells {
            has_job[group.space.index(cell, axis)] = true;
        }
    }
    (0..has_job.len()).filter(|&index| has_job[index]).collect()
}

/// Warns about axis values that no job has: they have no effect. Values of which the targets of the
/// command line exclude a cell are not reported, because they may have jobs without it.
pub(super) fn warn_of_idle_values(plan: &Plan, explain_hint: Option<&str>, sink: &mut Sink) {
    let help =
        explain_hint.unwrap_or("remove the value, or add values of other axes that it works with");
    for group in plan
        .groups
        .iter()
        .filter(|group| group.config.enabled && !group.compact_jobs.is_empty())
    {
        let space = &group.space;
        let mut used: Vec<Vec<bool>> = space
            .axes()
            .iter()
            .map(|column| vec![false; column.values.len()])
            .collect();
        let mut missing: usize = space.axes().iter().map(|column| column.product_len).sum();
        for compact in &group.compact_jobs {
            for (axis, used) in used.iter_mut().enumerate() {
                let index = space.index(compact.cell, axis);
                // Only `rows` and `include` name the values after those of the product.
                if !used[index] && index < space.axes()[axis].product_len {
                    missing -= 1;
                }
                used[index] = true;
            }
            if missing == 0 {
                break;
            }
        }
        for covered in &group.interned.covered {
            for &axis in &covered.axes {
                for &cell in &covered.cells {
                    used[axis][space.index(cell, axis)] = true;
                }
            }
        }
        for &cell in &group.excluded_by_override {
            for (axis, used) in used.iter_mut().enumerate() {
                if space.axes()[axis].role != AxisRole::Gfx {
                    used[space.index(cell, axis)] = true;
                }
            }
        }
        if !plan.published.is_empty() {
            continue;
        }
        for (axis, column) in space.axes().iter().enumerate() {
            for index in (0..column.product_len).filter(|&index| !used[axis][index]) {
                let text = column.values[index]
                    .as_ref()
                    .map(|value| value.text.as_str())
                    .unwrap_or_default();
                sink.push(
                    Diagnostic::new(
                        &codes::VALUE_WITHOUT_JOB,
                        format!("no job has {} {text}", column.name),
                    )
                    .at(
                        group
                            .config
                            .locations
                            .of(&format!("axes.{}[{index}]", column.name)),
                        "every cell is excluded",
                    )
                    .help(help),
                );
            }
        }
    }
}
