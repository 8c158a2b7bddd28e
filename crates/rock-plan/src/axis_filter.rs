//! Keeps the jobs of a plan that have given values of axes.
//!
//! **Invariant:** an axis or value that no matrix file has is an error, and never an empty plan.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;

use crate::codes::plan as codes;
use crate::config::{AxisRole, ParsedValue};
use crate::matrix::{AxisSpace, CellRank, CellSelection};
use crate::{Job, JobView, Plan, SavedPlan};
use rock_compat::Compat;
use rock_diagnostic::nearest::{did_you_mean, nearest, with_nearest};
use rock_diagnostic::{Diagnostic, Diagnostics, Location, counted};
use rock_names::{DistributionName, GfxTarget, Version};

/// The name of a job's GPU targets, which need not be an axis.
const GFX: &str = "gfx";
/// Maximum number of values that are suggested for a part of a version.
const MAX_MEANT_VALUES: usize = 5;
/// The separator of values in a list.
const SEPARATOR: char = ',';

/// Values of axes that jobs must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AxisFilter {
    /// In the given order; several entries of an axis are alternatives.
    entries: Vec<FilterEntry>,
}

/// The values of one option.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FilterEntry {
    axis: String,
    /// The values as written; an empty text matches any value.
    text: String,
    /// The values of `gfx`; `None` for another axis.
    gfx: Option<Vec<GfxWord>>,
}

/// A target, family or product among the values of `gfx`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct GfxWord {
    text: String,
    /// The targets; the word itself if it is unknown.
    targets: Vec<String>,
}

impl GfxWord {
    fn new(word: &str, compat: &Compat) -> Self {
        Self {
            text: word.to_owned(),
            targets: match compat.resolve_gfx(word) {
                Ok(targets) => targets.iter().map(ToString::to_string).collect(),
                Err(_) => vec![word.to_owned()],
            },
        }
    }

    /// Returns the target, or the name of the family of several.
    fn name(&self) -> &str {
        match self.targets.as_slice() {
            [target] => target,
            _ => &self.text,
        }
    }
}

impl FilterEntry {
    fn new(axis: &str, text: &str, compat: &Compat) -> Self {
        let words = split(text);
        let words = words.iter().map(|word| GfxWord::new(word, compat));
        Self {
            axis: axis.to_owned(),
            text: text.to_owned(),
            gfx: (axis == GFX).then(|| words.collect()),
        }
    }

    /// Returns the values, of which a job must have one; empty if it may have any. A text that is a
    /// value of the axis is not split, so that values may contain commas.
    fn values(&self, is_value: impl Fn(&str) -> bool) -> Vec<&str> {
        match &self.gfx {
            Some(words) => {
                let targets = words.iter().flat_map(|word| &word.targets);
                targets.map(String::as_str).collect()
            }
            None if is_value(&self.text) => vec![self.text.as_str()],
            None => split(&self.text),
        }
    }

    /// Returns the values that are not among the known ones. A family is known if one of its
    /// targets is.
    fn unknown_values(&self, known: &BTreeSet<String>) -> Vec<&str> {
        if let Some(words) = &self.gfx {
            let is_known = |word: &GfxWord| word.targets.iter().any(|one| known.contains(one));
            let unknown = words.iter().filter(|word| !is_known(word));
            return unknown.map(GfxWord::name).collect();
        }
        let mut values = self.values(|text| known.contains(text));
        values.retain(|value| !known.contains(*value));
        values
    }
}

/// The values of which a job must have one for each axis.
#[derive(Debug, Default)]
struct WantedValues<'f> {
    /// GPU targets; empty if a job may have any.
    targets: BTreeSet<&'f str>,
    /// The values of the other axes.
    axes: BTreeMap<&'f str, BTreeSet<&'f str>>,
}

impl<'f> WantedValues<'f> {
    /// Adds the values of an entry.
    fn add(&mut self, entry: &'f FilterEntry, is_value: impl Fn(&str) -> bool) {
        let values = entry.values(is_value);
        if entry.gfx.is_some() {
            self.targets.extend(values);
        } else if !values.is_empty() {
            self.axes.entry(&entry.axis).or_default().extend(values);
        }
    }

    fn is_empty(&self) -> bool {
        self.targets.is_empty() && self.axes.is_empty()
    }

    /// Whether one of a job's targets is wanted, or any target is.
    fn has_target(&self, gfx: &[GfxTarget]) -> bool {
        self.targets.is_empty() || gfx.iter().any(|target| self.is_target(&target.to_string()))
    }

    fn is_target(&self, target: &str) -> bool {
        self.targets.contains(target)
    }

    /// Whether `has_one` returns true for each axis other than `gfx`, with its wanted values.
    fn has_values(&self, has_one: impl Fn(&str, &BTreeSet<&str>) -> bool) -> bool {
        self.axes.iter().all(|(axis, values)| has_one(axis, values))
    }

    /// Whether an exclusion of cells with the values in `axes` may be about wanted ones: it applies
    /// to all values of axes that it does not name. `targets` returns those of a value of `gfx`.
    fn may_exclude(
        &self,
        axes: &IndexMap<String, String>,
        targets: impl Fn(&str) -> Vec<String>,
    ) -> bool {
        let has_target = |text: &String| {
            let targets = targets(text);
            targets.iter().any(|target| self.is_target(target))
        };
        (self.targets.is_empty() || axes.get(GFX).is_none_or(has_target))
            && self.has_values(|axis, values| {
                let value = axes.get(axis);
                value.is_none_or(|value| values.contains(value.as_str()))
            })
    }
}

/// Returns the values of a list; a text of separators only is a value that no axis has.
fn split(text: &str) -> Vec<&str> {
    let values: Vec<&str> = text
        .split(SEPARATOR)
        .map(str::trim)
        .filter(|value| !value.is_empty())
        .collect();
    if values.is_empty() && !text.is_empty() {
        vec![text]
    } else {
        values
    }
}

impl AxisFilter {
    /// Creates a filter of pairs of axis and values, which are separated by commas. Products and
    /// families among the values of `gfx` are replaced with their targets. All values of an axis,
    /// also of several pairs, are alternatives, and jobs must have one of each axis; an empty value
    /// matches any.
    pub fn new(values: &[(String, String)], compat: &Compat) -> Self {
        let entry = |(axis, text): &(String, String)| FilterEntry::new(axis, text, compat);
        Self {
            entries: values.iter().map(entry).collect(),
        }
    }

    /// Whether the filter keeps every job.
    pub fn is_empty(&self) -> bool {
        self.entries.iter().all(|entry| entry.text.is_empty())
    }

    /// Returns the cells that the kept jobs are built from. The axes are unknown here, so that both
    /// a text with commas and its parts are selected; [`Self::apply`] drops the other jobs.
    pub fn cells(&self) -> CellSelection {
        let of_entry = |entry: &FilterEntry| {
            let mut values = entry.values(|_| false);
            if !entry.text.is_empty() && !values.contains(&entry.text.as_str()) {
                values.push(&entry.text);
            }
            let pair = |value: &str| (entry.axis.clone(), value.to_owned());
            values.into_iter().map(pair).collect::<Vec<_>>()
        };
        CellSelection::new(self.entries.iter().flat_map(of_entry).collect())
    }

    /// Drops the jobs, and the reasons for missing cells, that do not have one of the values of each
    /// axis. The counts of the other reasons remain those of all cells.
    ///
    /// # Errors
    /// Axes and values that the matrix files do not have; the plan is then unchanged.
    pub fn apply(&self, plan: &mut Plan) -> Result<(), Diagnostics> {
        let mut errors = Vec::new();
        let mut wanted = WantedValues::default();
        for entry in &self.entries {
            let Some(known) = known_values(plan, &entry.axis) else {
                errors.push(unknown_axis(plan, entry));
                continue;
            };
            let unknown = entry.unknown_values(&known).into_iter();
            errors.extend(unknown.filter_map(|value| unknown_value(plan, entry, value, &known)));
            wanted.add(entry, |text| known.contains(text));
        }
        Diagnostics::check(errors)?;
        if wanted.is_empty() {
            return Ok(());
        }
        plan.select(|job| is_selected(job, &wanted));
        plan.keep_excluded(|space, row| {
            wanted.may_exclude(&row.axes, |text| targets_of_value(space, text))
        });
        Ok(())
    }

    /// Returns a note if jobs of a filtered plan also build for targets that the filter does not
    /// name: jobs are selected as a whole.
    pub fn other_targets_note(&self, plan: &Plan) -> Option<String> {
        let entries = self.entries.iter();
        let words: Vec<&GfxWord> = entries
            .filter_map(|entry| entry.gfx.as_ref())
            .flatten()
            .collect();
        if words.is_empty() {
            return None;
        }
        let targets = || words.iter().flat_map(|word| &word.targets);
        let is_named = |target: &str| targets().any(|one| one == target);
        let has_others = |job: &JobView<'_>| {
            let mut built = job.gfx().iter();
            built.any(|target| !is_named(&target.to_string()))
        };
        let list: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        let list = list.join(",");
        let jobs = match plan.jobs().filter(has_others).count() {
            0 => return None,
            1 => "1 job builds".to_owned(),
            count => format!("{count} jobs build"),
        };
        Some(format!(
            "{jobs} for other targets too, because `--only` selects whole jobs; `--gfx {list}` \
             builds for {list} only"
        ))
    }

    /// Drops the jobs and the exclusions of a saved plan that [`Self::apply`] drops from a new one.
    /// Axes and values that the saved plan does not have are not an error.
    pub fn apply_to_saved(&self, plan: &mut SavedPlan, compat: &Compat) {
        let mut wanted = WantedValues::default();
        for entry in &self.entries {
            wanted.add(entry, |text| has_value(plan, &entry.axis, text));
        }
        plan.jobs.retain(|job| is_saved_job_selected(job, &wanted));
        plan.excluded
            .retain(|row| wanted.may_exclude(&row.axes, |text| saved_targets(text, compat)));
    }
}

/// Returns the error for an axis that no matrix file has.
fn unknown_axis(plan: &Plan, entry: &FilterEntry) -> Diagnostic {
    let FilterEntry { axis, text, .. } = entry;
    let axes = axes(plan);
    let message = format!("no matrix file has an axis `{axis}`");
    let message = with_nearest(message, nearest(axis, axes.iter().map(String::as_str)));
    let help = versions_of_distribution(plan, text).map_or_else(
        || format!("name one of {}", join(&axes)),
        |versions| format!("a distribution is selected by its versions: `--only {versions}`"),
    );
    Diagnostic::new(&codes::UNKNOWN_SELECTION, message)
        .at(Location::Argument(format!("--only {axis}={text}")), "")
        .help(help)
}

/// Returns the versions of a distribution in its matrix file, as `my-kernels=1.0,1.1`; `None` if no
/// file builds it, or if its versions are not an axis of its own.
fn versions_of_distribution(plan: &Plan, name: &str) -> Option<String> {
    let name = name.parse::<DistributionName>().ok()?.normalized();
    let group = plan
        .groups
        .iter()
        .find(|group| group.config.distribution.normalized() == name)?;
    let column = &group.space.axes()[group.space.position(AxisRole::Package)?];
    let values = column.values.iter().flatten();
    let versions: Vec<&str> = values.map(|value| value.text.as_str()).collect();
    (!versions.is_empty()).then(|| format!("{}={}", column.name, versions.join(",")))
}

/// Returns the error for a value that no matrix file has, unless the plan has no jobs for another
/// reason; `known` are the values of the axis.
fn unknown_value(
    plan: &Plan,
    entry: &FilterEntry,
    value: &str,
    known: &BTreeSet<String>,
) -> Option<Diagnostic> {
    let FilterEntry { axis, text, .. } = entry;
    // Without jobs, the reasons for that are more useful than the lack of a target.
    if axis == GFX && plan.jobs().next().is_none() {
        return None;
    }
    let replacement = replacing_argument(plan, axis);
    let message = match &replacement {
        _ if axis == GFX => format!("no job builds for `{value}`"),
        Some(argument) => format!("`{argument}` does not list {axis} `{value}`"),
        None => format!("no matrix file has {axis} `{value}`"),
    };
    let other_axis = value
        .split_once('=')
        .filter(|(other, _)| known_values(plan, other).is_some());
    let meant = meant_values(value, known);
    let help = if other_axis.is_some() {
        format!("repeat `--only` for each axis: `--only {value}`")
    } else if known.is_empty() {
        format!("leave it out: no job has a value of {axis}")
    } else if !meant.is_empty() {
        did_you_mean(&meant)
    } else {
        format!("name one of {}", join(known))
    };
    let error = Diagnostic::new(&codes::UNKNOWN_SELECTION, message)
        .at(Location::Argument(format!("--only {axis}={text}")), "")
        .help(help);
    let dropped = (axis == GFX).then(|| dropped_note(plan, value)).flatten();
    let error = match dropped {
        Some(note) => error.note(note),
        None => error,
    };
    Some(match replacement {
        Some(argument) => error.note(format!(
            "`--only` selects from the values of `{argument}`, not from those of the matrix files"
        )),
        None => error,
    })
}

/// Returns the known values that a part of a version stands for, such as 2.9.1 for `2.9`, and 3.12
/// for `cp312`.
fn meant_values<'k>(value: &str, known: &'k BTreeSet<String>) -> Vec<&'k str> {
    let is_meant = |one: &&str| {
        let after = one.strip_prefix(value);
        let digits = value.strip_prefix("cp");
        after.is_some_and(|rest| rest.starts_with('.'))
            || digits.is_some_and(|digits| one.replace('.', "") == digits)
    };
    known
        .iter()
        .map(String::as_str)
        .filter(is_meant)
        .take(MAX_MEANT_VALUES)
        .collect()
}

/// Returns why jobs do not build for a target that the matrix files request: the first reason, and
/// the number of jobs with this reason and with others. `None` if no file requests the target.
fn dropped_note(plan: &Plan, target: &str) -> Option<String> {
    let reason_of = |job: JobView<'_>| {
        let mut dropped = job.dropped_gfx().iter();
        let (_, because) = dropped.find(|(one, _)| one.to_string() == target)?;
        Some(because.reason.clone())
    };
    let reasons: Vec<String> = plan.jobs().filter_map(reason_of).collect();
    let first = reasons.first()?;
    let same = reasons.iter().filter(|reason| *reason == first).count();
    let note = format!("{} without `{target}`: {first}", counted(same, "job"));
    Some(match reasons.len() - same {
        0 => note,
        others => format!("{note}; and {others} more for other reasons"),
    })
}

/// Returns the option whose values replace those of an axis in the matrix files, such as
/// `--axis torch`.
fn replacing_argument(plan: &Plan, axis: &str) -> Option<String> {
    let argument = |path: &str| {
        let mut locations = plan
            .groups
            .iter()
            .map(|group| group.config.locations.of(path));
        locations.find_map(|location| match location {
            Location::Argument(argument) => Some(argument),
            _ => None,
        })
    };
    argument(&format!("axes.{axis}")).or_else(|| (axis == GFX).then(|| argument(GFX)).flatten())
}

/// Whether a job builds a wanted target, and a cell that it covers has a wanted value of each other
/// axis.
fn is_selected(job: JobView<'_>, wanted: &WantedValues<'_>) -> bool {
    let space = &job.group.space;
    let has_one = |cell: CellRank, axis: &str, values: &BTreeSet<&str>| {
        let value = space
            .position_of_name(axis)
            .and_then(|axis| space.value(cell, axis));
        value.is_some_and(|value| values.contains(value.text.as_str()))
    };
    let mut cells = job.cells().iter();
    wanted.has_target(job.gfx())
        && cells.any(|&cell| wanted.has_values(|axis, values| has_one(cell, axis, values)))
}

/// Whether a job of a saved plan builds a wanted target, and has or covers a wanted value of each
/// other axis.
fn is_saved_job_selected(job: &Job, wanted: &WantedValues<'_>) -> bool {
    wanted.has_target(&job.gfx)
        && wanted.has_values(|axis, values| {
            let built = job.values_of_axis(axis);
            built.iter().any(|value| values.contains(value))
        })
}

/// Returns the targets of a value of the axis `gfx`.
fn targets_of_value(space: &AxisSpace, text: &str) -> Vec<String> {
    let value = space.position_of_name(GFX).and_then(|axis| {
        let column = &space.axes()[axis];
        column.values[column.index_of(text)?].as_ref()
    });
    match value.map(|value| &value.value) {
        Some(ParsedValue::Gfx(targets)) => targets.iter().map(ToString::to_string).collect(),
        _ => Vec::new(),
    }
}

/// Returns the targets of a value of `gfx` in a saved plan; the value itself if it is unknown.
fn saved_targets(text: &str, compat: &Compat) -> Vec<String> {
    match compat.expand_families(text) {
        Ok(targets) => targets.iter().map(ToString::to_string).collect(),
        Err(_) => vec![text.to_owned()],
    }
}

/// Whether a job or an exclusion of a saved plan has this value of an axis.
fn has_value(plan: &SavedPlan, axis: &str, text: &str) -> bool {
    let mut rows = plan.excluded.iter();
    rows.any(|row| row.axes.get(axis).is_some_and(|value| value == text))
        || plan
            .jobs
            .iter()
            .any(|job| job.values_of_axis(axis).contains(&text))
}

/// Returns every value of an axis; `None` if there is no such axis. Those of `gfx` are the targets
/// that jobs build for, and those of excluded cells.
fn known_values(plan: &Plan, axis: &str) -> Option<BTreeSet<String>> {
    if axis == GFX {
        let of_jobs = plan.jobs().flat_map(JobView::gfx).map(ToString::to_string);
        let of_excluded = plan.groups.iter().flat_map(|group| {
            let rows = group.excluded.iter();
            let texts = rows.filter_map(|row| row.axes.get(GFX));
            texts.flat_map(move |text| targets_of_value(&group.space, text))
        });
        return Some(of_jobs.chain(of_excluded).collect());
    }
    let columns = || {
        plan.groups
            .iter()
            .flat_map(|group| group.space.axes())
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
    let columns = plan.groups.iter().flat_map(|group| group.space.axes());
    columns
        .map(|column| column.name.clone())
        .chain([GFX.to_owned()])
        .collect()
}

/// Joins words with commas, versions after other words and in their order.
fn join(words: &BTreeSet<String>) -> String {
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    words.sort_by_cached_key(|word| word.parse::<Version>().ok());
    words.join(", ")
}
