//! Plan and steps to text: the plan for people, docker commands, scripts, the dry run, workflows.
//!
//! **Invariant:** nothing here decides or runs anything; equal input gives equal text.

pub mod actions;
mod diff;
mod docker;
mod drift;
mod environment;
mod plan;
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
pub use script::{WindowsShell, command, comment, quote, script, windows_script};
pub use steps::{dry_run, recipe};
pub use summary::summary;
pub use workflow::{FIRST_WORDS, WorkflowOverrides, for_windows, workflow};
