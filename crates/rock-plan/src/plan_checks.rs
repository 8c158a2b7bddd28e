//! Checks matrix files against the profiles of their recipes, and checks the jobs of a plan.

use itertools::Itertools as _;

use super::assemble::Plan;
use super::job::FAMILY;
use super::job_view::JobView;
use crate::codes::matrix;
use crate::codes::plan as codes;
use crate::config::{AxisRole, MatrixConfig, RecipeBackend, RecipeProfile};
use rock_diagnostic::{Diagnostic, Sink, nearest::nearest};

/// Checks that the recipe has the backend of every cell.
pub(super) fn check_backends(config: &MatrixConfig, profile: &RecipeProfile, sink: &mut Sink) {
    let known = || profile.backends.iter().map(|backend| backend.name.as_str());
    let axes = config.axes.iter();
    let of_product = axes
        .filter(|axis| axis.role == AxisRole::Backend)
        .flat_map(|axis| &axis.values);
    let rows = config.rows.iter().chain(&config.include);
    let explicit = rows
        .flat_map(|row| &row.axes)
        .filter(|(name, value)| value.value.role(name) == AxisRole::Backend)
        .map(|(_, value)| value);
    let names = of_product.chain(explicit).map(|value| value.text.as_str());
    for (number, name) in names.unique().enumerate() {
        if profile.backend(Some(name)).is_some() {
            continue;
        }
        let help = match nearest(name, known()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the recipe's backends are {}", known().join(", ")),
        };
        let message = format!("recipe `{}` has no backend `{name}`", profile.name);
        let location = config.locations.of(&format!("axes.backend[{number}]"));
        sink.push(
            Diagnostic::new(&codes::UNKNOWN_BACKEND, message)
                .at(location, "")
                .help(help),
        );
    }
}

pub(super) fn check_version_axis(config: &MatrixConfig, sink: &mut Sink) {
    let named = config
        .axes
        .iter()
        .any(|axis| axis.role == AxisRole::Package);
    let in_rows = config.axes.is_empty()
        && config
            .rows
            .iter()
            .all(|row| row.axes.contains_key(config.distribution.as_str()));
    if !named && !in_rows {
        sink.push(
            Diagnostic::new(
                &codes::NO_VERSION_AXIS,
                format!("no axis lists the versions of {}", config.distribution),
            )
            .at(config.locations.of("axes"), "")
            .help(format!("add `{}: [\"…\"]` to `axes`", config.distribution)),
        );
    }
}

/// Checks that the matrix file has all axes that the recipe requires.
pub(super) fn check_required_axes(config: &MatrixConfig, profile: &RecipeProfile, sink: &mut Sink) {
    for name in &profile.requires {
        let is_axis = config.axes.iter().any(|axis| axis.name == *name);
        let in_rows =
            !config.rows.is_empty() && config.rows.iter().all(|row| row.axes.contains_key(name));
        if !is_axis && !in_rows {
            let message = format!("the recipe `{}` needs the axis `{name}`", profile.name);
            sink.push(
                Diagnostic::new(&codes::MISSING_AXIS, message)
                    .at(config.locations.of("axes"), "")
                    .help(format!("add `{name}: [\"…\"]` to `axes`")),
            );
        }
    }
}

/// Checks that `collapse` lists axes of the matrix file that the recipe allows a backend to
/// collapse.
pub(super) fn check_collapse(config: &MatrixConfig, profile: &RecipeProfile, sink: &mut Sink) {
    for (number, name) in config.collapse.iter().enumerate() {
        let location = config.locations.of(&format!("collapse[{number}]"));
        let fault = |message: String| {
            Diagnostic::new(&codes::CANNOT_COLLAPSE, message).at(location.clone(), "")
        };
        let allows = |backend: &RecipeBackend| {
            backend.collapse.contains(name) || backend.collapsible.contains(name)
        };
        let in_rows = config.rows.iter().any(|row| row.axes.contains_key(name));
        if !profile.backends.iter().any(allows) {
            let message = format!(
                "the recipe `{}` cannot build one wheel for several values of `{name}`",
                profile.name
            );
            sink.push(
                fault(message)
                    .help("remove it, or add it to `collapsible` of a backend in your own recipe"),
            );
        } else if !in_rows && !config.axes.iter().any(|axis| axis.name == *name) {
            sink.push(
                fault(format!("the matrix file has no axis `{name}` to collapse"))
                    .help("remove it"),
            );
        }
    }
}

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
            let message = format!(
                "the recipe `{}` needs the variable `{name}`, which is not set",
                group.profile.name
            );
            let locations = &group.config.locations;
            let key = ["vars", "recipe"]
                .into_iter()
                .find(|key| locations.span(key).is_some_and(|span| !span.is_empty()));
            let location = locations.of(key.unwrap_or("distribution"));
            let mut fault = Diagnostic::new(&codes::MISSING_VARIABLE, message).at(location, "");
            if lacking.len() < group.job_count() {
                fault = fault.note(format!(
                    "{} of {} jobs do not have it, such as `{first}`",
                    lacking.len(),
                    group.job_count()
                ));
            }
            let command = format!("`rock-matrix recipe show {}`", group.profile.name);
            sink.push(fault.help(format!("set `{name}` under `vars`; {command} describes it")));
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

/// Warns about axis values that no job has: they have no effect.
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
