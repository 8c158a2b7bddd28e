//! Compares two plans.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use super::{Job, SavedExclusion, SavedPlan};
use crate::config::{Gate, Platform};

/// The differences between two plans.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct PlanDiff {
    /// Jobs that were added, removed or changed, sorted by ID.
    pub jobs: Vec<JobChange>,
    /// Cells that only the new plan excludes, or excludes for another reason.
    pub newly_excluded: Vec<ExclusionChange>,
    /// Cells that only the old plan excludes, or excludes for another reason.
    pub no_longer_excluded: Vec<ExclusionChange>,
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

/// Cells that one of two plans excludes for a reason that the other plan does not have for them.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct ExclusionChange {
    /// The normalized distribution of the matrix.
    pub distribution: String,
    /// The platform of the matrix.
    pub platform: &'static str,
    /// Axis names and values; an axis that is not named may have any value.
    pub axes: IndexMap<String, String>,
    /// Number of cells that only this plan excludes.
    pub count: u64,
    /// The code of the rule.
    pub code: String,
    /// The reason.
    pub reason: String,
}

/// Returns the differences from `old` to `new`.
pub fn diff(old: &SavedPlan, new: &SavedPlan) -> PlanDiff {
    PlanDiff {
        jobs: job_changes(&old.jobs, &new.jobs),
        newly_excluded: added_exclusions(&old.excluded, &new.excluded),
        no_longer_excluded: added_exclusions(&new.excluded, &old.excluded),
    }
}

/// Identifies an exclusion in both plans.
type ExclusionKey<'p> = (
    String,
    Platform,
    BTreeMap<&'p str, &'p str>,
    &'p str,
    &'p str,
);

fn exclusion_key(row: &SavedExclusion) -> ExclusionKey<'_> {
    let axes = row.axes.iter();
    (
        row.distribution.normalized(),
        row.platform,
        axes.map(|(axis, value)| (axis.as_str(), value.as_str()))
            .collect(),
        row.code.as_str(),
        row.reason.as_str(),
    )
}

/// Returns the exclusions of `new` with more cells than in `old`.
fn added_exclusions(old: &[SavedExclusion], new: &[SavedExclusion]) -> Vec<ExclusionChange> {
    let mut counts = BTreeMap::<ExclusionKey<'_>, u64>::new();
    for row in old {
        *counts.entry(exclusion_key(row)).or_default() += row.count;
    }
    let mut added = Vec::new();
    for row in new {
        let left = counts.entry(exclusion_key(row)).or_default();
        let common = row.count.min(*left);
        *left -= common;
        if row.count > common {
            added.push(ExclusionChange {
                distribution: row.distribution.normalized(),
                platform: row.platform.word(),
                axes: row.axes.clone(),
                count: row.count - common,
                code: row.code.clone(),
                reason: row.reason.clone(),
            });
        }
    }
    added
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
    use super::{PlanDiff, diff};
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

    #[test]
    fn exclusions_are_compared_by_their_cells_and_reasons() {
        let old = plan(&[
            exclusion("2.5.1", 2, "none"),
            exclusion("2.6.0", 1, "none"),
            exclusion("2.7.0", 3, "none"),
        ]);
        let new = plan(&[
            exclusion("2.5.1", 5, "none"),
            exclusion("2.6.0", 1, "another reason"),
            exclusion("2.8.0", 1, "none"),
        ]);
        let found = diff(&old, &new);
        let rows = |rows: &[super::ExclusionChange]| -> Vec<String> {
            let line = |row: &super::ExclusionChange| {
                format!(
                    "{} {} {} {}: {}",
                    row.distribution, row.platform, row.axes["torch"], row.count, row.reason
                )
            };
            rows.iter().map(line).collect()
        };
        assert_eq!(
            rows(&found.newly_excluded),
            [
                "flash-attn linux 2.5.1 3: none",
                "flash-attn linux 2.6.0 1: another reason",
                "flash-attn linux 2.8.0 1: none",
            ]
        );
        assert_eq!(
            rows(&found.no_longer_excluded),
            [
                "flash-attn linux 2.6.0 1: none",
                "flash-attn linux 2.7.0 3: none",
            ]
        );
        assert!(found.jobs.is_empty());
    }
}
