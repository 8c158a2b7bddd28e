//! A plan as documents look at it: jobs, what was left out, what was published already.

use indexmap::IndexMap;

use super::{Job, JobView, Plan};
use crate::config::Platform;
use rock_names::DistributionName;

/// A plan whose jobs are whole, read back or just made.
#[derive(Debug, Clone, Default)]
pub struct SavedPlan {
    /// The jobs.
    pub jobs: Vec<Job>,
    /// Cells that yield no job.
    pub left_out: Vec<LeftOut>,
    /// Names of wheels that jobs were left out for because they are published.
    pub published: Vec<String>,
}

/// Cells of one matrix that yield no job, for one reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The distribution of the matrix.
    pub distribution: DistributionName,
    /// The platform of the matrix.
    pub platform: Platform,
    /// Axis name → value; axes not named may have any value.
    pub axes: IndexMap<String, String>,
    /// How many cells.
    pub count: u64,
    /// The code of the rule.
    pub code: String,
    /// Why.
    pub reason: String,
}

impl SavedPlan {
    /// A plan that was just made.
    pub fn of(plan: &Plan) -> Self {
        let rows = plan
            .groups
            .iter()
            .flat_map(|group| group.excluded.iter().map(move |row| (group, row)));
        let left_out = rows.map(|(group, row)| LeftOut {
            distribution: group.config.distribution.clone(),
            platform: group.config.platform,
            axes: row.axes.clone(),
            count: row.count,
            code: row.code.id.to_owned(),
            reason: row.reason.clone(),
        });
        Self {
            jobs: plan.jobs().map(JobView::to_job).collect(),
            left_out: left_out.collect(),
            published: plan.published.clone(),
        }
    }

    /// This plan with another one's jobs behind its own.
    #[must_use]
    pub fn with(mut self, other: Self) -> Self {
        self.jobs.extend(other.jobs);
        self.left_out.extend(other.left_out);
        self.published.extend(other.published);
        self
    }
}
