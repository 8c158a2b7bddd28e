//! What the runner of GitHub Actions reads of a step: commands in its log, outputs and summaries in
//! files.
//!
//! Input: names, values, rows. Output: text. Forms: GitHub documentation, "Workflow commands for
//! GitHub Actions", and `ActionCommand.cs` and `FileCommandManager.cs` of actions/runner, which
//! parse them.
//!
//! **Invariant:** no value can end its own output and begin another one, and a summary is never
//! longer than its room.

mod commands;
mod faults;
mod outputs;
mod table;

pub use commands::{begins_command, group, mask, stopped, usage_error};
pub use faults::faults;
pub use outputs::{ActionOutput, OutputError, outputs};
pub use table::{SUMMARY_BYTES, table};
