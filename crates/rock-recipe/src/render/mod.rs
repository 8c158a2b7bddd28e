//! Renders plans and steps as text: plans for people, docker commands, scripts, dry runs and
//! workflows.
//!
//! **Invariant:** Nothing here makes decisions or runs anything; equal input gives equal text.

pub mod actions;
mod diff;
mod docker;
mod drift;
mod environment;
mod plan;
mod saved_plan;
mod script;
mod steps;
mod summary;
mod windows;
mod workflow;

pub use diff::unified;
pub use docker::docker;
pub use drift::drift;
pub use environment::{EnvironmentFormat, UnwritableValue, environment, environment_json};
pub use plan::{PlanDetail, changes, plan};
pub use saved_plan::saved_plan;
pub use script::{WindowsShell, command, comment, quote, script, windows_script};
pub use steps::{dry_run, dry_run_json, recipe};
pub use summary::summary;
pub use workflow::{
    FIRST_WORDS, WorkflowOverrides, for_windows, rendering_command, warn_of_attempts, workflow,
    workflows_differ,
};
