//! Turns jobs into build steps, and prints plans and steps as scripts and workflows.
//!
//! Input: a [`rock_plan::Job`], its recipe and compatibility data. Output: [`Step`]s that run the
//! same on the host and in a container, and the argument vector of the container.
//!
//! **Invariant:** Only the module `container` creates the argument vector of a container. No
//! version is compared in Rust.

pub mod codes;
pub mod render;

mod build;
mod check;
pub mod container;
mod context;
mod deferred_facts;
#[cfg(test)]
pub mod fixture;
mod job_values;
pub mod measurements;
pub mod parallel_jobs;
mod prepare;
mod repair;
mod smoke;
mod sources;
mod step;
mod step_builder;
mod table_lookup;
#[cfg(test)]
mod tests;
pub mod time_cap;
mod variables;

pub use build::{Build, FIGURES_FILE, RECORD_FILE, TESTED, build};
pub use check::{check, refusals_of_job};
pub use context::{
    BuildSite, CALLER_VARIABLE, FactSource, LATE, SHELL_VARIABLE, found, late_name, questions,
    shell_variable,
};
pub use prepare::{index_suffix, named};
pub use repair::{LIBRARIES_FOLDER, finishing, is_repaired, outside};
pub use smoke::TestPreparation;
pub use sources::{FIRST_DATE_S, SOURCE_DATES};
pub use step::{OnlyIf, ParallelJobsVariable, Step, StepOutput, VariableExtension};
