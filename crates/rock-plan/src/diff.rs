//! Compares two plans.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;
use itertools::Itertools as _;

use super::{Job, SavedExclusion, SavedPlan};
use crate::config::{Gate, Platform};

/// The differences between two plans.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct PlanDiff {
    /// Jobs that were added, removed or changed, sorted by ID.
    pub jobs: Vec<JobChange>,
    /// Exclusions that only the new plan has.
    pub newly_excluded: Vec<ExclusionChange>,
    /// Exclusions that only the old plan has, of cells that the new plan builds.
    pub no_longer_excluded: Vec<ExclusionChange>,
    /// Exclusions that only the old plan has, of cells that the new plan neither builds nor
    /// excludes.
    pub removed_exclusions: Vec<ExclusionChange>,
}

/// A difference between two plans for one job ID.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum JobChange {
    /// The job was added.
    Added {
        /// The job's ID.
        id: String,
        /// The job's wheel.
        wheel: String,
    },
    /// The job was removed.
    Removed {
        /// The job's ID.
        id: String,
        /// The job's wheel.
        wheel: String,
    },
    /// The job changed.
    Changed {
        /// The job's ID.
        id: String,
        /// The differences, such as `gfx: gfx90a → gfx90a;gfx942`.
        fields: Vec<String>,
    },
}

/// Cells that one of two plans excludes by a rule by which the other plan does not exclude them.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct ExclusionChange {
    /// The normalized distribution of the matrix.
    pub distribution: String,
    /// The platform of the matrix.
    pub platform: &'static str,
    /// Axis names and values; an axis that is not named may have any value.
    pub axes: IndexMap<String, String>,
    /// Number of cells that the plan excludes.
    pub count: u64,
    /// The code of the rule.
    pub code: String,
    /// The reason.
    pub reason: String,
}

impl From<&SavedExclusion> for ExclusionChange {
    fn from(row: &SavedExclusion) -> Self {
        Self {
            distribution: row.distribution.normalized(),
            platform: row.platform.word(),
            axes: row.axes.clone(),
            count: row.count,
            code: row.code.clone(),
            reason: row.reason.clone(),
        }
    }
}

/// Returns the differences from `old` to `new`.
pub fn diff(old: &SavedPlan, new: &SavedPlan) -> PlanDiff {
    let newly_excluded = exclusions_only_in(&new.excluded, &old.excluded);
    let mut diff = PlanDiff {
        jobs: job_changes(&old.jobs, &new.jobs),
        newly_excluded: newly_excluded.into_iter().map(Into::into).collect(),
        ..PlanDiff::default()
    };
    let mut planned = CombinationIndex::new(new);
    for row in exclusions_only_in(&old.excluded, &new.excluded) {
        if planned.is_built(row) {
            diff.no_longer_excluded.push(row.into());
        } else if !planned.is_excluded(row) {
            diff.removed_exclusions.push(row.into());
        }
    }
    diff
}

/// Returns the exclusions of a plan whose combination the other plan does not exclude by the same
/// rule. The number of cells and the reason may differ.
fn exclusions_only_in<'p>(
    plan: &'p [SavedExclusion],
    other: &[SavedExclusion],
) -> Vec<&'p SavedExclusion> {
    let known: BTreeSet<_> = other.iter().map(exclusion_key).collect();
    plan.iter()
        .filter(|row| !known.contains(&exclusion_key(row)))
        .collect()
}

/// Identifies an exclusion in both plans, by its combination and the code of its rule.
fn exclusion_key(row: &SavedExclusion) -> (Option<Combination<'_>>, &str) {
    (combination(row, &axis_names(row)), row.code.as_str())
}

/// Axis values of one matrix; an axis that is not named may have any value.
type Combination<'p> = (String, Platform, BTreeMap<&'p str, &'p str>);

/// The names of axes.
type AxisNames<'p> = BTreeSet<&'p str>;

fn axis_names(row: &SavedExclusion) -> AxisNames<'_> {
    row.axes.keys().map(String::as_str).collect()
}

/// Returns the values of these axes of an exclusion; `None` if it does not name all of them.
fn combination<'p>(row: &'p SavedExclusion, names: &AxisNames<'_>) -> Option<Combination<'p>> {
    let axes: BTreeMap<&str, &str> = row
        .axes
        .iter()
        .map(|(axis, value)| (axis.as_str(), value.as_str()))
        .filter(|(axis, _)| names.contains(axis))
        .collect();
    let has_all = axes.len() == names.len();
    has_all.then(|| (row.distribution.normalized(), row.platform, axes))
}

/// The combinations of axis values that a plan builds and excludes.
struct CombinationIndex<'p> {
    plan: &'p SavedPlan,
    /// The combinations of the exclusions, by their axes.
    excluded: BTreeMap<AxisNames<'p>, BTreeSet<Combination<'p>>>,
    /// The values of these axes that jobs build.
    built_values: BTreeMap<AxisNames<'p>, BTreeSet<Combination<'p>>>,
    /// The values of these axes in exclusions that name all of them.
    excluded_values: BTreeMap<AxisNames<'p>, BTreeSet<Combination<'p>>>,
}

impl<'p> CombinationIndex<'p> {
    fn new(plan: &'p SavedPlan) -> Self {
        let mut excluded = BTreeMap::<_, BTreeSet<_>>::new();
        for row in &plan.excluded {
            let names = axis_names(row);
            let found = combination(row, &names);
            excluded.entry(names).or_default().extend(found);
        }
        Self {
            plan,
            excluded,
            built_values: BTreeMap::new(),
            excluded_values: BTreeMap::new(),
        }
    }

    /// Whether a job builds a cell with the values of an exclusion of another plan.
    fn is_built(&mut self, row: &'p SavedExclusion) -> bool {
        let names = axis_names(row);
        let found = combination(row, &names);
        let jobs = &self.plan.jobs;
        let built = self
            .built_values
            .entry(names)
            .or_insert_with_key(|names| built_combinations(jobs, names));
        found.is_some_and(|found| built.contains(&found))
    }

    /// Whether an exclusion has the values of one of another plan, some of them, or more.
    fn is_excluded(&mut self, row: &'p SavedExclusion) -> bool {
        let names = axis_names(row);
        let found = combination(row, &names);
        let exclusions = &self.plan.excluded;
        let values = self
            .excluded_values
            .entry(names)
            .or_insert_with_key(|names| {
                let rows = exclusions.iter();
                rows.filter_map(|row| combination(row, names)).collect()
            });
        found.is_some_and(|found| values.contains(&found))
            || self.excluded.iter().any(|(names, excluded)| {
                combination(row, names).is_some_and(|found| excluded.contains(&found))
            })
    }
}

/// Returns the values of these axes that jobs build.
fn built_combinations<'p>(jobs: &'p [Job], names: &AxisNames<'p>) -> BTreeSet<Combination<'p>> {
    let mut built = BTreeSet::new();
    for job in jobs {
        let pairs = names.iter().map(|&axis| {
            let values = job.values_of_axis(axis).into_iter();
            values.map(move |value| (axis, value))
        });
        for axes in pairs.multi_cartesian_product() {
            built.insert((
                job.distribution.normalized(),
                job.settings.platform,
                axes.into_iter().collect(),
            ));
        }
    }
    built
}

/// Returns the changes of jobs, sorted by ID.
fn job_changes(old: &[Job], new: &[Job]) -> Vec<JobChange> {
    let by_id = |jobs: &'_ [Job]| {
        jobs.iter()
            .map(|job| (job.id.clone(), job.clone()))
            .collect::<BTreeMap<_, _>>()
    };
    let (old, new) = (by_id(old), by_id(new));
    let mut changes = Vec::new();
    for id in old
        .keys()
        .chain(new.keys().filter(|id| !old.contains_key(*id)))
    {
        match (old.get(id), new.get(id)) {
            (Some(a), None) => changes.push(JobChange::Removed {
                id: id.clone(),
                wheel: a.wheel.clone(),
            }),
            (None, Some(b)) => changes.push(JobChange::Added {
                id: id.clone(),
                wheel: b.wheel.clone(),
            }),
            (Some(a), Some(b)) => {
                let fields = fields(a, b);
                if !fields.is_empty() {
                    changes.push(JobChange::Changed {
                        id: id.clone(),
                        fields,
                    });
                }
            }
            (None, None) => {}
        }
    }
    changes.sort_by(|a, b| a.id().cmp(b.id()));
    changes
}

impl JobChange {
    /// Returns the job's ID.
    pub fn id(&self) -> &str {
        match self {
            Self::Added { id, .. } | Self::Removed { id, .. } | Self::Changed { id, .. } => id,
        }
    }
}

fn fields(a: &Job, b: &Job) -> Vec<String> {
    let gfx = |job: &Job| {
        job.gfx
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(";")
    };
    let image = |job: &Job| job.image.clone().unwrap_or_else(|| "none".to_owned());
    let python = |job: &Job| {
        job.covers
            .values()
            .flatten()
            .cloned()
            .collect::<Vec<_>>()
            .join(" ")
    };
    let runner = |job: &Job| {
        job.runner_group
            .iter()
            .chain(&job.runner)
            .cloned()
            .collect::<Vec<_>>()
            .join(",")
    };
    let gates = |gates: &[Gate]| {
        gates
            .iter()
            .map(|gate| gate.word())
            .collect::<Vec<_>>()
            .join(",")
    };
    let vars = |job: &Job| {
        job.settings
            .vars
            .iter()
            .map(|(k, v)| format!("{k}={v}"))
            .collect::<Vec<_>>()
            .join(" ")
    };
    let pairs = [
        ("wheel", a.wheel.clone(), b.wheel.clone()),
        (
            "additional wheels",
            a.extra_wheels.join(" "),
            b.extra_wheels.join(" "),
        ),
        ("gfx", gfx(a), gfx(b)),
        ("image", image(a), image(b)),
        (
            "repair",
            a.settings.repair.platform.to_string(),
            b.settings.repair.platform.to_string(),
        ),
        ("runner", runner(a), runner(b)),
        ("gpu", a.gpu.to_string(), b.gpu.to_string()),
        ("recipe", a.recipe.clone(), b.recipe.clone()),
        ("gates", gates(&a.gates), gates(&b.gates)),
        ("covers", python(a), python(b)),
        ("vars", vars(a), vars(b)),
    ];
    pairs
        .into_iter()
        .filter(|(_, a, b)| a != b)
        .map(|(name, a, b)| format!("{name}: {a} → {b}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{ExclusionChange, PlanDiff, diff};
    use crate::config::Platform;
    use crate::{SavedExclusion, SavedPlan};

    fn exclusion(torch: &str, count: u64, reason: &str) -> SavedExclusion {
        SavedExclusion {
            distribution: "Flash_Attn".parse().unwrap(),
            platform: Platform::Linux,
            axes: [("torch".to_owned(), torch.to_owned())].into(),
            count,
            code: "P001".to_owned(),
            reason: reason.to_owned(),
        }
    }

    fn plan(excluded: &[SavedExclusion]) -> SavedPlan {
        SavedPlan {
            excluded: excluded.to_vec(),
            ..SavedPlan::default()
        }
    }

    #[test]
    fn equal_plans_have_no_differences() {
        let one = plan(&[exclusion("2.5.1", 2, "none"), exclusion("2.6.0", 1, "none")]);
        let mut other = one.clone();
        other.excluded.reverse();
        assert_eq!(diff(&one, &other), PlanDiff::default());
    }

    /// Returns the version of torch, the count and the reason of each exclusion.
    fn lines(rows: &[ExclusionChange]) -> Vec<String> {
        let line = |row: &ExclusionChange| {
            let (torch, count, reason) = (&row.axes["torch"], row.count, &row.reason);
            format!(
                "{} {} {torch} {count}: {reason}",
                row.distribution, row.platform
            )
        };
        rows.iter().map(line).collect()
    }

    #[test]
    fn exclusions_are_compared_by_their_rules_and_combinations() {
        let old = plan(&[
            exclusion("2.5.1", 2, "none"),
            exclusion("2.6.0", 1, "none"),
            exclusion("2.7.0", 3, "none"),
        ]);
        let new = plan(&[
            exclusion("2.5.1", 5, "none"),
            exclusion("2.6.0", 1, "another text"),
            exclusion("2.8.0", 1, "none"),
        ]);
        let found = diff(&old, &new);
        let added = ["flash-attn linux 2.8.0 1: none"];
        assert_eq!(lines(&found.newly_excluded), added);
        let removed = ["flash-attn linux 2.7.0 3: none"];
        assert_eq!(lines(&found.removed_exclusions), removed);
        assert!(found.no_longer_excluded.is_empty() && found.jobs.is_empty());
    }

    #[test]
    fn an_exclusion_by_another_rule_is_no_removed_one() {
        let with_python = |mut row: SavedExclusion| {
            row.axes.insert("python".to_owned(), "3.12".to_owned());
            row
        };
        let by_rule = |mut row: SavedExclusion, code: &str| {
            code.clone_into(&mut row.code);
            row
        };
        let row = exclusion("2.5.1", 1, "none");
        for (old, new) in [
            (row.clone(), by_rule(row.clone(), "P002")),
            (row.clone(), by_rule(with_python(row.clone()), "P002")),
            (with_python(row.clone()), by_rule(row.clone(), "P002")),
        ] {
            let found = diff(&plan(&[old]), &plan(&[new]));
            assert_eq!(found.newly_excluded.len(), 1);
            assert!(found.removed_exclusions.is_empty() && found.no_longer_excluded.is_empty());
        }
    }
}
