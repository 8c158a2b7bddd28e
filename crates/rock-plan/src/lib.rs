//! Expands matrix files into the jobs that build wheels for ROCm.
//!
//! Input: matrix files, recipes, compatibility data, published wheels and limits. Output: a
//! [`Plan`] of self-contained jobs with IDs, labels, wheel names, images and shards, and
//! `plan.json`.
//!
//! **Invariant:** No two jobs have the same ID or the same wheel name with a version, and equal
//! input gives equal bytes.

pub mod codes;
pub mod config;
pub mod matrix;
pub mod template;

mod architecture;
mod assemble;
mod cache;
mod changes;
mod collapse;
mod collide;
mod device_code;
mod diff;
mod draft;
pub mod estimate;
mod fit;
mod further;
mod github;
mod id;
mod image;
mod job;
mod json;
mod leg;
mod naming;
mod place;
mod plan_checks;
mod pool;
mod published;
mod refused;
mod run;
mod runner;
mod saved;
mod shared;
pub mod starter;
mod total;
mod view;

pub use assemble::{Group, Plan, first_reasons, plan};
pub use diff::{Change, diff};
pub use fit::{check_fit, check_images, warn_of_caches};
pub use github::{GithubPlan, JOBS_PER_MATRIX, OUTPUT_BYTES, Shard, github, warn_of_size};
pub use id::is_id;
pub use job::{DroppedGfx, Estimate, Job, Settings};
pub use json::{LARGEST_PLAN_BYTES, PlanDocument, read_json, read_saved, write_json};
pub use place::Place;
pub use published::Published;
pub use run::{RunError, failed_jobs};
pub use runner::{RunnerShape, RunnerShapeError};
pub use saved::{LeftOut, SavedPlan};
pub use total::RunnerHours;
pub use view::JobView;

/// What a plan is made with beside matrix files and facts.
#[derive(Debug, Clone)]
pub struct Options {
    /// Files that are published already; their jobs are left out.
    pub published: Published,
    /// Estimate for this machine instead of the jobs' runners.
    pub runner: Option<RunnerShape>,
    /// Jobs of one matrix, 1 to [`JOBS_PER_MATRIX`].
    pub jobs_per_matrix: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            published: Published::default(),
            runner: None,
            jobs_per_matrix: JOBS_PER_MATRIX,
        }
    }
}
