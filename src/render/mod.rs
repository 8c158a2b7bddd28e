//! Plan and steps to text: the plan for people, docker commands, scripts, the dry run.
//!
//! **Invariant:** nothing here decides or runs anything; equal input gives equal text.

mod docker;
mod plan;
mod script;

pub use docker::docker;
pub use plan::{Detail, changes, plan};
pub use script::{command, quote, script};
