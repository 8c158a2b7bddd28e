//! Expands matrix files into the jobs that build wheels for ROCm.
//!
//! Input: matrix files, recipes, compatibility data, published wheels and limits. Output: a
//! [`Plan`] of self-contained jobs with IDs, labels, wheel names, images and shards, and
//! `plan.json`. With the feature `workspace`, the [`workspace`] reads all files of a directory and
//! looks up jobs.
//!
//! **Invariant:** No two jobs have the same ID or the same wheel name with a version, and equal
//! input gives equal bytes.

pub mod codes;
pub mod config;
pub mod matrix;

mod architecture;
mod assemble;
mod axis_filter;
mod cache;
mod collapse;
mod collisions;
mod compact_jobs;
mod device_code;
mod diff;
pub mod estimate;
mod extra_wheels;
mod failed_jobs;
mod gfx_choice;
mod github;
mod image;
mod interned_values;
mod interner;
mod job;
mod job_id;
mod job_variable;
mod job_view;
mod json;
mod machine_kind;
mod matrix_leg;
mod naming;
mod notes;
mod override_rows;
mod plan_checks;
mod published;
mod runner;
mod runner_fit;
mod runner_hours;
mod saved_plan;
pub mod starter;
mod unsupported_families;
#[cfg(feature = "workspace")]
pub mod workspace;

pub use assemble::{Plan, PlanGroup, SelectedFrom, first_reasons, plan};
pub use axis_filter::AxisFilter;
pub use diff::{ExclusionChange, JobChange, PlanDiff, diff};
pub use failed_jobs::{RunError, failed_jobs, keep_failed_jobs, no_failed_jobs};
pub use github::{
    GithubPlan, JOBS_PER_MATRIX, OUTPUT_BYTES, PlanShard, WorkflowCapacity, github, warn_of_size,
};
pub use job::{BuildEstimate, DroppedGfx, Job, JobSettings};
pub use job_id::is_id;
pub use job_variable::job_of_variable;
pub use job_view::JobView;
pub use json::{LARGEST_PLAN_BYTES, PlanDocument, read_json, read_saved, write_json};
pub use machine_kind::MachineKind;
pub use notes::notes;
pub use published::PublishedSet;
pub use runner::{RunnerShape, RunnerShapeError};
pub use runner_fit::{check_fit, check_images, warn_of_caches};
pub use runner_hours::RunnerHours;
pub use saved_plan::{SavedExclusion, SavedPlan};

use matrix::CellSelection;

/// Inputs of a plan in addition to matrix files and compatibility data.
#[derive(Debug, Clone)]
pub struct PlanInputs {
    /// Files that are already published; their jobs are skipped.
    pub published: PublishedSet,
    /// The machine to estimate for instead of the jobs' runners.
    pub runner: Option<RunnerShape>,
    /// Maximum number of jobs per matrix, 1 to [`JOBS_PER_MATRIX`].
    pub jobs_per_matrix: usize,
    /// The cells that are planned. A job that builds one wheel for several values of an axis is
    /// planned whichever of these values are selected.
    pub selection: CellSelection,
    /// The help of warnings about excluded cells, such as the command that shows the reasons;
    /// `None` for a text without a command.
    pub explain_hint: Option<String>,
}

impl Default for PlanInputs {
    fn default() -> Self {
        Self {
            published: PublishedSet::default(),
            runner: None,
            jobs_per_matrix: JOBS_PER_MATRIX,
            selection: CellSelection::default(),
            explain_hint: None,
        }
    }
}
