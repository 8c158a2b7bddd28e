//! Plan and steps to text: the plan for people, docker commands, scripts, the dry run.
//!
//! **Invariant:** nothing here decides or runs anything; equal input gives equal text.

mod plan;

pub use plan::{Detail, changes, plan};
