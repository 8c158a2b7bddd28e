//! Plan and steps to text: the plan for people, docker commands, scripts, the dry run.
//!
//! **Invariant:** nothing here decides or runs anything; equal input gives equal text.

mod docker;
mod drift;
mod plan;
mod script;
mod steps;

pub use docker::docker;
pub use drift::drift;
pub use plan::{Detail, changes, plan};
pub use script::{command, quote, script};
pub use steps::{dry_run, recipe};
