//! The text that a step passes to the runner of GitHub Actions: commands in its log, outputs and
//! summaries in files.
//!
//! Input: names, values, rows. Output: text. Sources of the formats: GitHub documentation,
//! "Workflow commands for GitHub Actions", and `ActionCommand.cs` and `FileCommandManager.cs` of
//! actions/runner, which parse them.
//!
//! **Invariant:** No value can end its own output and begin another one, and a summary never
//! exceeds its size limit.

mod commands;
mod faults;
mod outputs;
mod table;

pub use commands::{begins_command, group, mask, stopped, usage_error};
pub use faults::faults;
pub use outputs::{ActionOutput, OutputError, outputs};
pub use table::{SUMMARY_BYTES, table};
