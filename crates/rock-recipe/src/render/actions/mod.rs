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

pub use commands::{begins_command, group, mask, stopped, usage_error};
pub use faults::faults;
pub use outputs::{ActionOutput, OutputError, outputs};
pub use rock_diagnostic::markdown::limited_table as table;

/// The maximum size of a step's summary in bytes, by the row `step-summary` of the compatibility
/// data. Diagnostics are listed there before that data is loaded.
pub const SUMMARY_BYTES: u64 = 1 << 20;
