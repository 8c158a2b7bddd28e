//! Compares two plans.

use std::collections::BTreeMap;

use super::Job;
use crate::config::Gate;

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

/// Returns the differences from `old` to `new`, sorted by ID.
pub fn diff(old: &[Job], new: &[Job]) -> Vec<JobChange> {
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
