//! A plan as documents use it: jobs, exclusions and published wheels.

use indexmap::IndexMap;

use super::{Job, JobView, Plan};
use crate::config::Platform;
use rock_names::DistributionName;

/// A plan with complete jobs, read from a file or just created.
#[derive(Debug, Clone, Default)]
pub struct SavedPlan {
    /// The jobs.
    pub jobs: Vec<Job>,
    /// Cells without a job.
    pub excluded: Vec<SavedExclusion>,
    /// Names of wheels whose jobs were skipped because they are already published.
    pub published: Vec<String>,
}

/// Cells of one matrix that have no job, for one reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedExclusion {
    /// The distribution of the matrix.
    pub distribution: DistributionName,
    /// The platform of the matrix.
    pub platform: Platform,
    /// Axis names and values; an axis that is not named may have any value.
    pub axes: IndexMap<String, String>,
    /// Number of cells.
    pub count: u64,
    /// The code of the rule.
    pub code: String,
    /// The reason.
    pub reason: String,
}

impl SavedPlan {
    /// Converts a plan that was just created.
    pub fn of(plan: &Plan) -> Self {
        let rows = plan
            .groups
            .iter()
            .flat_map(|group| group.excluded.iter().map(move |row| (group, row)));
        let excluded = rows.map(|(group, row)| SavedExclusion {
            distribution: group.config.distribution.clone(),
            platform: group.config.platform,
            axes: row.axes.clone(),
            count: row.count,
            code: row.code.id.to_owned(),
            reason: row.reason.clone(),
        });
        Self {
            jobs: plan.jobs().map(JobView::to_job).collect(),
            excluded: excluded.collect(),
            published: plan.published.clone(),
        }
    }

    /// Appends another plan.
    #[must_use]
    pub fn with(mut self, other: Self) -> Self {
        self.jobs.extend(other.jobs);
        self.excluded.extend(other.excluded);
        self.published.extend(other.published);
        self
    }
}
